package errs

import (
	"errors"
	"strings"
	"testing"
)

func TestRecover(t *testing.T) {
	run := func(f func() error) (err error) {
		defer Recover(&err, "counting sheep")
		return f()
	}
	if err := run(func() error { return nil }); err != nil {
		t.Errorf("no panic: %v", err)
	}
	own := errors.New("own")
	if err := run(func() error { return own }); err != own {
		t.Errorf("an error without a panic becomes %v", err)
	}
	var none []int
	err := run(func() error { return errors.New(strings.Repeat("x", none[3])) })
	var p *Panic
	if !errors.As(err, &p) || !strings.HasPrefix(err.Error(), "internal error counting sheep: runtime error: index out of range") {
		t.Fatalf("%v", err)
	}
	if !strings.Contains(string(p.Stack), "panic_recover_test.go") {
		t.Errorf("the stack does not name the place of the panic:\n%s", p.Stack)
	}
}
