package history

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Kind is what an operation does to an object.
type Kind uint8

// The kinds.
const (
	// Append adds values to those that the object has.
	Append Kind = iota
	// Set replaces all values of the object; no values is deleting them.
	Set
	// Get reads all values of the object.
	Get
)

func (k Kind) String() string { return [...]string{"append", "set", "get"}[k] }

// Effect is what a statement does to one object: a partition of an append table, whose
// values are its rows, or a key of a primary-key table, whose value is its row.
type Effect struct {
	Kind   Kind
	Object string
	// Values are what is added or what the object has then; of a Get what was read.
	Values []string
}

// Outcome is how a statement ended.
type Outcome uint8

// The outcomes.
const (
	// Unknown is a statement that may have been carried out or not, at any time after its call.
	Unknown Outcome = iota
	// Done is one that was carried out.
	Done
	// Refused is one that surely was not.
	Refused
)

// statement is a statement of a client.
type statement struct {
	client       int
	text         string
	effects      []Effect
	call, ending int64
	outcome      Outcome
}

// Recorder takes the statements of all clients. It is safe for concurrent use.
type Recorder struct {
	start time.Time
	mu    sync.Mutex
	all   []*statement
}

// NewRecorder returns an empty recorder, whose clock starts now.
func NewRecorder() *Recorder { return &Recorder{start: time.Now()} }

// Call is a statement under way.
type Call struct {
	r *Recorder
	s *statement
}

// Begin records that a client sends a statement with these effects.
func (r *Recorder) Begin(client int, text string, effects ...Effect) *Call {
	s := &statement{client: client, text: text, effects: effects}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, s)
	s.call = int64(time.Since(r.start))
	return &Call{r, s}
}

// End records that the statement has ended.
func (c *Call) End(o Outcome) {
	at := int64(time.Since(c.r.start))
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.s.ending, c.s.outcome = at, o
}

// Read records the answer of a query of objects, by object; one that is not in it has no values.
func (c *Call) Read(got map[string][]string) {
	at := int64(time.Since(c.r.start))
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.s.ending, c.s.outcome = at, Done
	for i := range c.s.effects {
		e := &c.s.effects[i]
		e.Values = slices.Clone(got[e.Object])
	}
}

// Count returns how many statements ended in each way.
func (r *Recorder) Count() (done, refused, unknown int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.all {
		switch s.outcome {
		case Done:
			done++
		case Refused:
			refused++
		default:
			unknown++
		}
	}
	return done, refused, unknown
}

// join makes a state of values: sorted, each as often as it is there.
func join(values []string) string {
	v := slices.Sorted(slices.Values(values))
	return strings.Join(v, " ")
}

func split(state string) []string {
	if state == "" {
		return nil
	}
	return strings.Split(state, " ")
}
