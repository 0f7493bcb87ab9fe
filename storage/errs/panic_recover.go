package errs

import (
	"fmt"
	"runtime/debug"
)

// Panic is a panic that was turned into an error: a defect of this program, or
// of a library, that fails one statement and not the process.
type Panic struct {
	// Doing says what the goroutine was at.
	Doing string
	// Value is what panic was called with.
	Value any
	// Stack is the goroutine's stack, for the log.
	Stack []byte
}

// Error names the panic, without its stack.
func (p *Panic) Error() string { return fmt.Sprintf("internal error %s: %v", p.Doing, p.Value) }

// PanicStack is the stack, for those who log and do not import this package.
func (p *Panic) PanicStack() []byte { return p.Stack }

// Recover turns a panic of the calling function into *err; without one it does
// nothing. It must be deferred directly, by every goroutine: a panic that
// nobody recovers ends the process, whatever its other goroutines serve.
//
//	go func() (err error) {
//		defer errs.Recover(&err, "reading a manifest")
func Recover(err *error, doing string) {
	if p := recover(); p != nil {
		*err = &Panic{Doing: doing, Value: p, Stack: debug.Stack()}
	}
}
