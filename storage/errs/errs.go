package errs

import (
	"errors"
	"fmt"
)

// Class says what kind of failure an error is. The zero value means that
// nobody classified it.
type Class uint8

// The classes.
const (
	// Unknown is an error that nobody classified: an internal error.
	Unknown Class = iota
	// NotFound is a missing database, table, branch, tag, snapshot, or file.
	NotFound
	// Conflict is a lost race; the statement may be repeated.
	Conflict
	// Corrupt is a damaged, truncated, or contradictory file.
	Corrupt
	// Unsupported is a format version or table feature that is not read here.
	Unsupported
	// Invalid is a wrong option, value, or argument.
	Invalid
	// ReadOnly is a write that this server or table refuses.
	ReadOnly
	// Limit is a resource limit that was reached.
	Limit
	// Exists is a database, table, branch, tag or column that is there already.
	Exists
	// Uncertain is a commit whose outcome could not be learnt: it may have been
	// published or not, never in part.
	Uncertain
)

var classNames = [...]string{"unknown", "not found", "conflict", "corrupt", "unsupported", "invalid", "read only", "limit", "exists", "uncertain"}

// String names the class.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// Error is a classified error. Its text is the text of what it wraps.
type Error struct {
	Class Class
	Err   error
}

// Error returns the message, without the class.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// New makes an error of class c; format may hold %w.
func New(c Class, format string, args ...any) error {
	return &Error{Class: c, Err: fmt.Errorf(format, args...)}
}

// NotFoundf, Conflictf, Corruptf, Unsupportedf, Invalidf, ReadOnlyf and Limitf
// are New with their class.

// NotFoundf makes a NotFound error.
func NotFoundf(format string, args ...any) error { return New(NotFound, format, args...) }

// Conflictf makes a Conflict error.
func Conflictf(format string, args ...any) error { return New(Conflict, format, args...) }

// Corruptf makes a Corrupt error.
func Corruptf(format string, args ...any) error { return New(Corrupt, format, args...) }

// Unsupportedf makes an Unsupported error.
func Unsupportedf(format string, args ...any) error { return New(Unsupported, format, args...) }

// Invalidf makes an Invalid error.
func Invalidf(format string, args ...any) error { return New(Invalid, format, args...) }

// ReadOnlyf makes a ReadOnly error.
func ReadOnlyf(format string, args ...any) error { return New(ReadOnly, format, args...) }

// Limitf makes a Limit error.
func Limitf(format string, args ...any) error { return New(Limit, format, args...) }

// Existsf returns a new error of class Exists.
func Existsf(format string, args ...any) error { return New(Exists, format, args...) }

// Uncertainf returns a new error of class Uncertain.
func Uncertainf(format string, args ...any) error { return New(Uncertain, format, args...) }

// ClassOf returns the class of the outermost classified error in err's chain,
// Unknown where there is none.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Unknown
}

// Is reports whether err is of class c.
func Is(err error, c Class) bool { return err != nil && ClassOf(err) == c }
