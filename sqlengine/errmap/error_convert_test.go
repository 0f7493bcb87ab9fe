package errmap_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer/analyzererrors"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
)

func TestConvert(t *testing.T) {
	_, vitess := sqlparser.Parse("selec 1")
	_, unclosed := sqlparser.Parse("select 'x")
	const syntax = "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near "
	for _, c := range []struct {
		err     error
		code    uint16
		state   string
		message string
	}{
		{errmap.New(1094, "HY000", "Unknown thread id: %d", 5), 1094, "HY000", "Unknown thread id: 5"},
		{fmt.Errorf("around: %w", errmap.New(1231, "42000", "x")), 1231, "42000", "x"},
		{&dialect.Error{Number: 1064, State: "42000", Message: "near"}, 1064, "42000", "near"},
		{fmt.Errorf("scan: %w", context.Canceled), 1317, "70100", "Query execution was interrupted"},
		{context.DeadlineExceeded, 3024, "HY000", "Query execution was interrupted, maximum statement execution time exceeded"},
		{sqlparser.ErrEmpty, 1065, "42000", "Query was empty"},
		{vitess, 1064, "42000", syntax + "'selec' at line 1"},
		{unclosed, 1064, "42000", syntax + "'x' at line 1"},
		{sql.ErrSyntaxError.New(vitess.Error()), 1064, "42000", syntax + "'selec' at line 1"},

		{errs.NotFoundf("table shop.t does not exist"), 1146, "42S02", "table shop.t does not exist"},
		{errs.NotFoundf("database nosuch"), 1049, "42000", "database nosuch"},
		{errs.NotFoundf("snapshot 7 of table t"), 1032, "HY000", "snapshot 7 of table t"},
		{errs.NotFoundf("tag v1 of table t"), 1032, "HY000", "tag v1 of table t"},
		{errs.NotFoundf("table shop.t: Tag 'v1' doesn't exist."), 1032, "HY000", "table shop.t: Tag 'v1' doesn't exist."},
		{errs.NotFoundf("table shop.t: Branch 'b1' doesn't exist."), 1146, "42S02", "table shop.t: Branch 'b1' doesn't exist."},
		{errs.NotFoundf("table shop.t: $nothing is not there"), 1146, "42S02", "table shop.t: $nothing is not there"},
		{errs.NotFoundf("table t: The specified scan snapshotId 9 is out of range"), 1032, "HY000", "table t: The specified scan snapshotId 9 is out of range"},
		{errs.NotFoundf("branch b1 of table t"), 1146, "42S02", "branch b1 of table t"},
		{errs.NotFoundf("file x.parquet"), 1017, "HY000", "file x.parquet"},
		{fmt.Errorf("plan: %w", errs.Conflictf("lost the race")), 1213, "40001", "plan: lost the race"},
		{errs.Corruptf("manifest"), 1033, "HY000", "manifest"},
		{errs.Unsupportedf("version 9"), 1235, "42000", "version 9"},
		{errs.Invalidf("option x"), 1210, "HY000", "option x"},
		{errs.ReadOnlyf("no writes"), 1290, "HY000", "no writes"},
		{errs.Limitf("memory"), 1041, "HY000", "memory"},
		{errs.Existsf("Database shop already exists."), 1007, "HY000", "Database shop already exists."},
		{errs.Existsf("Table shop.t already exists."), 1050, "42S01", "Table shop.t already exists."},
		{errs.Existsf("Column a already exists in the table."), 1060, "42S21", "Column a already exists in the table."},
		{errs.Uncertainf("table t: the answer of the last step was lost"), 1180, "HY000", "table t: the answer of the last step was lost"},

		{sql.ErrTableNotFound.New("t"), 1146, "42S02", "Table 'shop.t' doesn't exist"},
		{sql.ErrTableNotFound.New("a.t, maybe you mean u?"), 1146, "42S02", "Table 'a.t' doesn't exist (maybe you mean u?)"},
		{sql.ErrDatabaseNotFound.New("d"), 1049, "42000", "Unknown database 'd'"},
		{sql.ErrNoDatabaseSelected.New(), 1046, "3D000", "No database selected"},
		{sql.ErrColumnNotFound.New("c"), 1054, "42S22", "Unknown column 'c' in 'field list'"},
		{sql.ErrTableColumnNotFound.New("t", "c"), 1054, "42S22", "Unknown column 't.c' in 'field list'"},
		{sql.ErrAmbiguousColumnName.New("c", []string{"a", "b"}), 1052, "23000", "Column 'c' in field list is ambiguous"},
		{sql.ErrFunctionNotFound.New("f"), 1305, "42000", "FUNCTION shop.f does not exist"},
		{sql.ErrInvalidArgumentNumber.New("abs", 1, 2), 1582, "42000", "Incorrect parameter count in the call to native function 'abs'"},
		{sql.ErrExpectedSingleRow.New(), 1242, "21000", "Subquery returns more than 1 row"},
		{sql.ErrInvalidOperandColumns.New(1, 2), 1241, "21000", "Operand should contain 1 column(s)"},
		{analyzererrors.ErrValidationGroupBy.New("t.x"), 1055, "42000", "Expression of SELECT list is not in GROUP BY clause and contains nonaggregated column 't.x' which is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by"},
		{plan.ErrNotView.New("v"), 1347, "HY000", "'shop.v' is not VIEW"},
		{sql.ErrInvalidSetValue.New("x"), 1231, "42000", "Variable 'sql_mode' can't be set to the value of 'x'"},
		{sql.ErrUnknownSystemVariable.New("nosuch"), 1193, "HY000", "Unknown system variable 'nosuch'"},
		{sql.ErrUnknownSystemVariable.New("@@session.nosuch"), 1193, "HY000", "Unknown system variable 'nosuch'"},
		{sql.ErrInvalidSystemVariableValue.New("autocommit", "x"), 1231, "42000", "Variable 'autocommit' can't be set to the value of 'x'"},
		{sql.ErrSystemVariableReadOnly.New("version"), 1238, "HY000", "Variable 'version' is a read only variable"},
		{sql.ErrUnknownPreparedStatement.New("p"), 1243, "HY000", "Unknown prepared statement handler (p) given to EXECUTE"},
		{sql.ErrTableAlreadyExists.New("t"), 1050, "42S01", "Table 't' already exists"},
		{sql.ErrDatabaseExists.New("d"), 1007, "HY000", "Can't create database 'd'; database exists"},
		{sql.ErrDuplicateAliasOrTable.New("t"), 1066, "42000", "Not unique table/alias: 't'"},
		{sql.ErrInsertIntoNonNullableProvidedNull.New("c"), 1048, "23000", "Column 'c' cannot be null"},
		{sql.NewUniqueKeyErr("[1]", true, nil), 1062, "23000", "Duplicate entry '1' for key 'PRIMARY'"},
		{sql.ErrReadOnlyTransaction.New(), 1792, "25006", "Cannot execute statement in a READ ONLY transaction."},
		{sql.ErrLockDeadlock.New("x"), 1213, "40001", "serialization failure: x, try restarting transaction."},
		{sql.ErrUnsupportedFeature.New("x"), 1235, "42000", "unsupported feature: x"},
		{sql.NewWrappedInsertError(nil, sql.ErrColumnSpecifiedTwice.New("c")), 1110, "42000", "Column 'c' specified twice"},
		{sql.NewWrappedTypeConversionError(1, 0, types.ErrConvertingToTime.New("x")), 1292, "22007", "Incorrect datetime value: 'x'"},
		{fmt.Errorf("around: %w", sql.ErrDatabaseNotFound.New("d")), 1049, "42000", "Unknown database 'd'"},
		{mysql.NewSQLError(1227, "42000", "denied"), 1227, "42000", "denied"},
		{mysql.NewSQLError(1227, "", "denied"), 1227, "42000", "denied"},
		{errors.New("bind variable not provided: 'v2'"), 1210, "HY000", "Incorrect arguments to EXECUTE"},
		{errors.New("BIGINT value is out of range in '(a + b)'"), 1690, "22003", "BIGINT value is out of range in '(a + b)'"},
		{errors.New("who knows"), 1105, "HY000", "who knows"},
	} {
		code, state, message := errmap.ConvertIn("shop", c.err)
		if code != c.code || state != c.state || message != c.message {
			t.Errorf("%v:\n got %d %s %q\nwant %d %s %q", c.err, code, state, message, c.code, c.state, c.message)
		}
	}
}

func TestConvertCuts(t *testing.T) {
	_, _, m := errmap.Convert(errors.New(strings.Repeat("é", 400)))
	if len(m) > 511 || !utf8.ValidString(m) {
		t.Errorf("message of %d bytes", len(m))
	}
}

func TestWrap(t *testing.T) {
	cause := errors.New("cause")
	err := errmap.Wrap(cause, 1043, "08S01", "Bad handshake")
	if !errors.Is(err, cause) || err.Error() != "Bad handshake" {
		t.Errorf("got %v", err)
	}
	if got := errmap.SQLState(1146) + errmap.SQLState(9999); got != "42S02HY000" {
		t.Errorf("states %q", got)
	}
}
