package history

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// shown bounds the operations of an object that an error lists.
const shown = 60

// input is one effect of a statement for porcupine.
type input struct {
	kind   Kind
	values string
	text   string
}

// model is one object: its values, sorted.
var model = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, in, out any) (bool, any) {
		s, i := state.(string), in.(input)
		switch i.kind {
		case Append:
			return true, join(append(split(s), split(i.values)...))
		case Set:
			return true, i.values
		}
		return s == out.(string), s
	},
}

// Check looks for an order of the statements that explains all answers. It takes each object by
// itself: a history is linearizable if that of each object is. The error names the objects without
// such an order, with their operations.
func (r *Recorder) Check(timeout time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	objects := map[string][]porcupine.Operation{}
	for _, s := range r.all {
		for _, e := range s.effects {
			if s.outcome == Refused || s.outcome == Unknown && e.Kind == Get {
				continue
			}
			op := porcupine.Operation{ClientId: s.client, Call: s.call, Return: s.ending, Input: input{e.Kind, join(e.Values), s.text}, Output: ""}
			if s.outcome == Unknown {
				// To have taken effect after all others is not to have taken effect.
				op.Return = math.MaxInt64
			}
			if e.Kind == Get {
				op.Output = join(e.Values)
			}
			objects[e.Object] = append(objects[e.Object], op)
		}
	}
	var bad []error
	for object, ops := range objects {
		switch porcupine.CheckOperationsTimeout(model, ops, timeout) {
		case porcupine.Ok:
		case porcupine.Unknown:
			bad = append(bad, fmt.Errorf("%s: no order of its %d operations was found within %s", object, len(ops), timeout))
		default:
			bad = append(bad, fmt.Errorf("%s: no order explains its operations:\n%s", object, describe(object, shorten(ops, timeout))))
		}
	}
	return errors.Join(bad...)
}

// shorten takes operations off the end for as long as no order explains the rest.
func shorten(ops []porcupine.Operation, timeout time.Duration) []porcupine.Operation {
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	// Those that never end belong to every part.
	pending := 0
	for pending < len(ops) && ops[len(ops)-1-pending].Return == math.MaxInt64 {
		pending++
	}
	ended, open := ops[:len(ops)-pending], ops[len(ops)-pending:]
	n := sort.Search(len(ended), func(k int) bool {
		// What has not ended yet at the k-th return may have taken effect by then.
		part := slices.Clone(ended[:k+1])
		for _, o := range ended[k+1:] {
			if i := o.Input.(input); o.Call < ended[k].Return && i.kind != Get {
				part = append(part, o)
			}
		}
		return porcupine.CheckOperationsTimeout(model, append(part, open...), timeout) == porcupine.Illegal
	})
	if n < len(ended) {
		ended = ended[:n+1]
	}
	return append(slices.Clone(ended), open...)
}

// describe lists the last operations of an object.
func describe(object string, ops []porcupine.Operation) string {
	var b strings.Builder
	if len(ops) > shown {
		fmt.Fprintf(&b, "    … %d before\n", len(ops)-shown)
		ops = ops[len(ops)-shown:]
	}
	for _, o := range ops {
		i := o.Input.(input)
		end := "…"
		if o.Return != math.MaxInt64 {
			end = fmt.Sprint(time.Duration(o.Return).Round(time.Microsecond))
		}
		values := i.values
		if i.kind == Get {
			values = o.Output.(string)
		}
		fmt.Fprintf(&b, "    %s to %s client %d: %s %s {%s} by %s\n", time.Duration(o.Call).Round(time.Microsecond), end, o.ClientId, i.kind, object, values, i.text)
	}
	return b.String()
}
