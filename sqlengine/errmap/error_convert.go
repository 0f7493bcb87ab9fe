package errmap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/storage/errs"
)

// maxMessage is MySQL's limit of an error message (MYSQL_ERRMSG_SIZE), in bytes.
const maxMessage = 511

// Error is an error that is to be answered exactly so.
type Error struct {
	Code    uint16
	State   string
	Message string
	cause   error
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause given to Wrap.
func (e *Error) Unwrap() error { return e.cause }

// New makes an error with its MySQL number and SQLSTATE.
func New(code uint16, state, format string, args ...any) error {
	return &Error{Code: code, State: state, Message: fmt.Sprintf(format, args...)}
}

// Wrap is New with a cause for errors.Is.
func Wrap(cause error, code uint16, state, format string, args ...any) error {
	return &Error{Code: code, State: state, Message: fmt.Sprintf(format, args...), cause: cause}
}

// Convert gives the MySQL error number, the five characters of SQLSTATE and
// the message for err, which must not be nil.
func Convert(err error) (code uint16, sqlstate, message string) {
	return ConvertIn("", err)
}

// ConvertIn is Convert for a session whose current database is db: messages
// that name a table as MySQL does need it.
func ConvertIn(db string, err error) (code uint16, sqlstate, message string) {
	code, sqlstate, message = convert(db, err)
	return code, sqlstate, cut(message)
}

func convert(db string, err error) (uint16, string, string) {
	var exact *Error
	if errors.As(err, &exact) {
		return exact.Code, exact.State, exact.Message
	}
	var text *dialect.Error
	if errors.As(err, &text) {
		return uint16(text.Number), text.State, text.Message
	}
	var own interface {
		error
		MySQLError() (code uint16, state, message string)
	}
	if errors.As(err, &own) {
		return own.MySQLError()
	}
	var panicked *errs.Panic
	if errors.As(err, &panicked) {
		return 1105, "HY000", panicked.Error() + ". The server's log has the details."
	}
	if errors.Is(err, context.Canceled) {
		return 1317, "70100", "Query execution was interrupted"
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return 3024, "HY000", "Query execution was interrupted, maximum statement execution time exceeded"
	}
	if errors.Is(err, sqlparser.ErrEmpty) {
		return 1065, "42000", "Query was empty"
	}
	if c := errs.ClassOf(err); c != errs.Unknown {
		return classified(c, err)
	}
	var wrapped *mysql.SQLError
	if errors.As(err, &wrapped) && wrapped.Num > 0 && wrapped.Num != 1105 {
		state := wrapped.State
		if len(state) != 5 || state == "HY000" {
			state = stateOf(uint16(wrapped.Num))
		}
		return uint16(wrapped.Num), state, wrapped.Message
	}
	err = unwrapGMS(err)
	for i := range kindRules {
		r := &kindRules[i]
		if r.kind.Is(err) {
			msg := err.Error()
			if r.text != nil {
				msg = r.text(db, msg)
			}
			return r.code, r.state, msg
		}
	}
	msg := err.Error()
	for i := range textRules {
		r := &textRules[i]
		if r.match(msg) {
			if r.text != nil {
				msg = r.text(db, msg)
			}
			return r.code, r.state, msg
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		return 1045, "28000", msg
	}
	return 1105, "HY000", msg
}

// classified maps an error of storage/errs.
func classified(c errs.Class, err error) (uint16, string, string) {
	msg := err.Error()
	switch c {
	case errs.NotFound:
		switch firstNoun(msg) {
		case "database":
			return 1049, "42000", msg
		case "snapshot", "tag", "consumer", "partition", "changelog", "watermark", "option", "key", "row":
			return 1032, "HY000", msg
		case "file":
			return 1017, "HY000", msg
		case "column", "field":
			return 1054, "42S22", msg
		}
		return 1146, "42S02", msg
	case errs.Conflict:
		return 1213, "40001", msg
	case errs.Corrupt:
		return 1033, "HY000", msg
	case errs.Unsupported:
		return 1235, "42000", msg
	case errs.Invalid:
		return 1210, "HY000", msg
	case errs.ReadOnly:
		return 1290, "HY000", msg
	case errs.Limit:
		return 1041, "HY000", msg
	case errs.Exists:
		switch firstNoun(msg) {
		case "database":
			return 1007, "HY000", msg
		case "column", "field":
			return 1060, "42S21", msg
		}
		return 1050, "42S01", msg
	case errs.Uncertain:
		return 1180, "HY000", msg
	}
	return 1105, "HY000", msg
}

// nouns are the things that a NotFound message may be about.
var nouns = []string{"database", "table", "branch", "snapshot", "tag", "consumer", "partition", "changelog",
	"watermark", "option", "file", "column", "field", "key", "row"}

// firstNoun finds the word of nouns that comes first in a message. A table that
// the message only begins with ("table db.t: Tag 'v1' doesn't exist.") counts
// where nothing else is named.
func firstNoun(msg string) string {
	words := strings.Fields(strings.ToLower(msg))
	found := ""
	for i, w := range words {
		w = strings.TrimRight(w, ":,.")
		switch w {
		case "snapshotid":
			w = "snapshot"
		case "tags":
			w = "tag"
		}
		if !slices.Contains(nouns, w) {
			continue
		}
		if w == "table" && i+1 < len(words) && strings.HasSuffix(words[i+1], ":") {
			found = w
			continue
		}
		return w
	}
	return found
}

// unwrapGMS takes off go-mysql-server's wrappers that hide a kind.
func unwrapGMS(err error) error {
	for {
		next := sql.UnwrapError(err)
		if ig, ok := err.(interface{ Unwrap() error }); ok && next == err {
			if inner := ig.Unwrap(); inner != nil {
				next = inner
			}
		}
		if next == err || next == nil {
			return err
		}
		if _, isKind := err.(kindError); isKind {
			return err
		}
		err = next
	}
}

// kindError is what go-errors' errors have: a stack trace and a cause.
type kindError interface{ Cause() error }

// cut shortens a message to what MySQL would send, at a character.
func cut(msg string) string {
	if len(msg) <= maxMessage {
		return msg
	}
	n := maxMessage
	for n > 0 && !utf8.RuneStart(msg[n]) {
		n--
	}
	return msg[:n]
}

// SQLState returns MySQL's SQLSTATE of an error number, HY000 where it has none of its own.
func SQLState(code uint16) string { return stateOf(code) }
