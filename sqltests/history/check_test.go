package history

import (
	"strings"
	"testing"
	"time"
)

// play records statements one after the other: "a p 1 2" appends, "s p 1" sets, "g p 1 2" reads; "+" and "?"
// before it begin a statement that ends with the test, or never.
func play(lines ...string) *Recorder {
	r := NewRecorder()
	var open []*Call
	for i, l := range lines {
		late, never := strings.HasPrefix(l, "+"), strings.HasPrefix(l, "?")
		refused := strings.HasPrefix(l, "!")
		w := strings.Fields(strings.TrimLeft(l, "+?!"))
		kind := map[string]Kind{"a": Append, "s": Set, "g": Get}[w[0]]
		c := r.Begin(i, l, Effect{Kind: kind, Object: w[1], Values: w[2:]})
		switch {
		case never:
		case refused:
			c.End(Refused)
		case late:
			open = append(open, c)
		default:
			c.End(Done)
		}
	}
	for _, c := range open {
		c.End(Done)
	}
	return r
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		ok   bool
		ops  []string
	}{
		{"appends and reads", true, []string{"a p 1", "g p 1", "a p 2", "g p 1 2"}},
		{"an acknowledged row is lost", false, []string{"a p 1", "a p 2", "g p 2"}},
		{"a row is there twice", false, []string{"a p 1", "g p 1 1"}},
		{"a row of a refused statement", false, []string{"!a p 1", "g p 1"}},
		{"a refused statement", true, []string{"!a p 1", "g p"}},
		{"a doubtful row is there", true, []string{"?a p 1", "g p", "g p 1", "g p 1"}},
		{"a doubtful row is not there", true, []string{"?a p 1", "a p 2", "g p 2"}},
		{"a doubtful row comes and goes", false, []string{"?a p 1", "g p 1", "g p"}},
		{"a doubtful row is there twice", false, []string{"?a p 1", "g p 1 1"}},
		{"concurrent statements in either order", true, []string{"+s p 1", "+s p 2", "g p 2", "g p 1", "g p 1"}},
		{"each at one moment", false, []string{"+s p 1", "+s p 2", "g p 2", "g p 1", "g p 2"}},
		{"overwrite takes what was there", true, []string{"a p 1", "s p 2", "g p 2", "a p 3", "g p 2 3"}},
		{"overwrite leaves something", false, []string{"a p 1", "s p 2", "g p 1 2"}},
		{"the last one wins", false, []string{"s k 1", "s k 2", "g k 1"}},
		{"objects of their own", true, []string{"a p 1", "a q 2", "g p 1", "g q 2"}},
	} {
		err := play(c.ops...).Check(10 * time.Second)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "client") {
			t.Errorf("%s: the error does not show the operations: %v", c.name, err)
		}
	}
}

func TestCount(t *testing.T) {
	if d, r, u := play("a p 1", "!a p 2", "?a p 3", "+a p 4").Count(); d != 2 || r != 1 || u != 1 {
		t.Error(d, r, u)
	}
}
