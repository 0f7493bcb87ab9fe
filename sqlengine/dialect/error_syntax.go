package dialect

import (
	"fmt"
	"strings"
)

// MySQL error numbers of this package.
const (
	ErrnoBadField        = 1054 // ER_BAD_FIELD_ERROR, 42S22
	ErrnoSyntax          = 1064 // ER_PARSE_ERROR, 42000
	ErrnoEmptyQuery      = 1065 // ER_EMPTY_QUERY, 42000
	ErrnoUnknownTable    = 1051 // ER_BAD_TABLE_ERROR, 42S02
	ErrnoDuplicateField  = 1060 // ER_DUP_FIELDNAME, 42S21
	ErrnoNotUniqueTable  = 1066 // ER_NONUNIQ_TABLE, 42000
	ErrnoInvalidGroupUse = 1111 // ER_INVALID_GROUP_FUNC_USE, HY000
	ErrnoMultipleKey     = 1068 // ER_MULTIPLE_PRI_KEY, 42000
	ErrnoNoColumns       = 1113 // ER_TABLE_MUST_HAVE_COLUMNS, 42000
	ErrnoTooBigPrecision = 1426 // ER_TOO_BIG_PRECISION, 42000
	ErrnoFieldTwice      = 1110 // ER_FIELD_SPECIFIED_TWICE, 42000
	ErrnoColumnLists     = 1353 // ER_VIEW_WRONG_LIST, HY000
	ErrnoInvalidDefault  = 1067 // ER_INVALID_DEFAULT, 42000
	ErrnoMixGroup        = 1140 // ER_MIX_OF_GROUP_FUNC_AND_FIELDS, 42000
	ErrnoDerivedAlias    = 1248 // ER_DERIVED_MUST_HAVE_ALIAS, 42000
	ErrnoNotSupported    = 1235 // ER_NOT_SUPPORTED_YET, 42000
	ErrnoIllegalNumber   = 1367 // ER_ILLEGAL_VALUE_FOR_TYPE, 22007
	ErrnoStackOverrun    = 1436 // ER_STACK_OVERRUN_NEED_MORE, HY000
	ErrnoWrongValue      = 1525 // ER_WRONG_VALUE, HY000
	ErrnoNoSuchWindow    = 3579 // ER_WINDOW_NO_SUCH_WINDOW
	ErrnoWindowCycle     = 3580 // ER_WINDOW_CIRCULARITY_IN_WINDOW_GRAPH
	ErrnoDuplicateWindow = 3591 // ER_WINDOW_DUPLICATE_NAME
	ErrnoNoSuchPartition = 1735 // ER_UNKNOWN_PARTITION, HY000
	ErrnoExplainFormat   = 1791 // ER_UNKNOWN_EXPLAIN_FORMAT
	sqlStateSyntax       = "42000"
	sqlStateGeneral      = "HY000"
	maxNearBytes         = 80 // MySQL cuts the quoted text after that many characters
	syntaxErrorMessage   = "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '%s' at line %d"
)

// Error is an error about the text of a statement, as a MySQL client sees it.
type Error struct {
	Number  int    // MySQL error number
	State   string // SQLSTATE
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unsupported reports whether the statement was understood but is not served.
func (e *Error) Unsupported() bool { return e.Number == ErrnoNotSupported }

// syntaxErrorAt makes MySQL's error 1064 for text that is wrong at byte offset
// pos of src.
func syntaxErrorAt(src string, pos int) *Error {
	pos = min(max(pos, 0), len(src))
	near := strings.TrimRight(src[pos:], " \t\r\n;")
	if len(near) > maxNearBytes {
		cut := maxNearBytes
		for cut > 0 && near[cut]&0xC0 == 0x80 { // not inside a character
			cut--
		}
		near = near[:cut]
	}
	return &Error{Number: ErrnoSyntax, State: sqlStateSyntax,
		Message: fmt.Sprintf(syntaxErrorMessage, near, 1+strings.Count(src[:pos], "\n"))}
}

// unsupported makes the error for a statement that is recognised and not
// served; what names it, hint says what would help and may be empty.
func unsupported(what, hint string) *Error {
	msg := what + " is not supported by this server version"
	if hint != "" {
		msg += ": " + hint
	}
	return &Error{Number: ErrnoNotSupported, State: sqlStateSyntax, Message: msg}
}

func wrongValue(kind, value string) *Error {
	return &Error{Number: ErrnoWrongValue, State: sqlStateGeneral,
		Message: fmt.Sprintf("Incorrect %s value: '%s'", kind, value)}
}
