package errmap

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer/analyzererrors"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/dolthub/go-mysql-server/sql/types"
	"gopkg.in/src-d/go-errors.v1"
)

// kindRule maps one kind of go-mysql-server. text rewrites its message as MySQL has it.
type kindRule struct {
	kind  *errors.Kind
	code  uint16
	state string
	text  func(db, msg string) string
}

var kindRules = []kindRule{
	// Names.
	{sql.ErrTableNotFound, 1146, "42S02", tableMissing},
	{sql.ErrUnknownTable, 1051, "42S02", nil},
	{sql.ErrDatabaseNotFound, 1049, "42000", func(_, m string) string { return "Unknown database '" + afterColon(m) + "'" }},
	{sql.ErrNoDatabaseSelected, 1046, "3D000", fixed("No database selected")},
	{sql.ErrDatabaseSchemaNotFound, 1049, "42000", func(_, m string) string { return "Unknown database '" + afterColon(m) + "'" }},
	{sql.ErrColumnNotFound, 1054, "42S22", unknownColumn},
	{sql.ErrTableColumnNotFound, 1054, "42S22", unknownColumn},
	{sql.ErrUnknownColumn, 1054, "42S22", nil},
	{sql.ErrMisusedAlias, 1054, "42S22", unknownColumn},
	{analyzererrors.ErrUnknownIndexColumns, 1072, "42000", nil},
	{sql.ErrUnknownIndexColumn, 1072, "42000", nil},
	{sql.ErrKeyColumnDoesNotExist, 1072, "42000", nil},
	{sql.ErrAmbiguousColumnName, 1052, "23000", ambiguous("field list")},
	{sql.ErrAmbiguousColumnOrAliasName, 1052, "23000", ambiguous("field list")},
	{sql.ErrAmbiguousColumnInOrderBy, 1052, "23000", ambiguous("order clause")},
	{sql.ErrDuplicateAliasOrTable, 1066, "42000", func(_, m string) string {
		return "Not unique table/alias: '" + strings.Trim(afterColon(m), "'`\"") + "'"
	}},
	{sql.ErrInvalidRefInView, 1356, "HY000", nil},
	{sql.ErrUnknownEvent, 1539, "HY000", nil},
	{sql.ErrEventDoesNotExist, 1539, "HY000", nil},
	{sql.ErrEventAlreadyExists, 1537, "HY000", nil},
	{sql.ErrTriggerDoesNotExist, 1360, "HY000", fixed("Trigger does not exist")},
	{sql.ErrViewDoesNotExist, 1051, "42S02", nil},
	{sql.ErrExistingView, 1050, "42S01", nil},
	{sql.ErrExpectedTableFoundView, 1347, "HY000", nil},
	{plan.ErrNotView, 1347, "HY000", notView},
	{sql.ErrTableAlreadyExists, 1050, "42S01", func(_, m string) string {
		return "Table '" + strings.TrimSuffix(strings.TrimPrefix(m, "table with name "), " already exists") + "' already exists"
	}},
	{sql.ErrDatabaseExists, 1007, "HY000", func(_, m string) string {
		return "Can't create database '" + strings.TrimSuffix(strings.TrimPrefix(m, "can't create database "), "; database exists") + "'; database exists"
	}},
	{sql.ErrColumnExists, 1060, "42S21", func(_, m string) string { return "Duplicate column name '" + quoted(m) + "'" }},
	{sql.ErrDuplicateColumn, 1060, "42S21", func(_, m string) string { return "Duplicate column name '" + quoted(m) + "'" }},
	{sql.ErrDuplicateKey, 1061, "42000", nil},
	{sql.ErrInvalidIdentifier, 1103, "42000", nil},
	{sql.ErrInvalidDatabaseName, 1102, "42000", func(_, m string) string { return "Incorrect database name '" + afterColon(m) + "'" }},
	{sql.ErrColumnSpecifiedTwice, 1110, "42000", func(_, m string) string { return "Column '" + quoted(m) + "' specified twice" }},
	{sql.ErrCantDropFieldOrKey, 1091, "42000", func(_, m string) string { return "Can't DROP '" + quoted(m) + "'; check that column/key exists" }},
	{sql.ErrCantDropIndex, 1553, "HY000", nil},
	{plan.ErrIndexNotFound, 1176, "42000", nil},
	{sql.ErrIndexNotFound, 1176, "42000", nil},
	{sql.ErrPartitionNotFound, 1526, "HY000", nil},

	// Syntax and shape of statements.
	{sql.ErrSyntaxError, 1064, "42000", syntaxError},
	{sql.ErrInvalidSyntax, 1064, "42000", syntaxError},
	{sql.ErrExpectedSingleRow, 1242, "21000", fixed("Subquery returns more than 1 row")},
	{sql.ErrMoreThanOneRow, 1172, "42000", nil},
	{sql.ErrInvalidOperandColumns, 1241, "21000", operandColumns},
	{sql.ErrInvalidColumnNumber, 1241, "21000", operandColumns},
	{sql.ErrColumnNumberDoesNotMatch, 1222, "21000", nil},
	{planbuilder.ErrUnionSchemasDifferentLength, 1222, "21000", fixed("The used SELECT statements have a different number of columns")},
	{analyzererrors.ErrUnionSchemasMatch, 1222, "21000", fixed("The used SELECT statements have a different number of columns")},
	{sql.ErrNonAggregatedColumnWithoutGroupBy, 1140, "42000", func(_, m string) string { return upperFirst(m) }},
	{analyzererrors.ErrValidationGroupBy, 1055, "42000", notGrouped},
	{analyzererrors.ErrValidationOrderBy, 1111, "HY000", fixed("Invalid use of group function")},
	{sql.ErrAggregationUnsupported, 1111, "HY000", fixed("Invalid use of group function")},
	{sql.ErrWindowUnsupported, 3593, "HY000", nil},
	{sql.ErrUnknownWindowName, 3579, "HY000", func(_, m string) string { return "Window name '" + quoted(m) + "' is not defined." }},
	{sql.ErrCircularWindowInheritance, 3580, "HY000", fixed("There is a circularity in the window dependency graph.")},
	{sql.ErrInvalidWindowInheritance, 3582, "HY000", nil},
	{sql.ErrColumnCountMismatch, 1353, "HY000", nil},
	{sql.ErrColValCountMismatch, 1136, "21S01", nil},
	{sql.ErrInsertIntoMismatchValueCount, 1136, "21S01", fixed("Column count doesn't match value count at row 1")},
	{sql.ErrNoTablesUsed, 1096, "HY000", nil},
	{sql.ErrRecursiveCTEMissingUnion, 3573, "HY000", nil},
	{sql.ErrRecursiveCTENotUnion, 3569, "HY000", nil},
	{sql.ErrCteRecursionLimitExceeded, 3636, "HY000", fixed("Recursive query aborted after 1001 iterations. Try increasing @@cte_max_recursion_depth to a larger value.")},
	{planbuilder.ErrQualifiedOrderBy, 1250, "42000", nil},
	{sql.ErrInvalidTypeForLimit, 1210, "HY000", fixed("Incorrect arguments to LIMIT")},
	{expression.ErrInvalidOffset, 1210, "HY000", fixed("Incorrect arguments to LIMIT")},
	{sql.ErrUnboundPreparedStatementVariable, 1210, "HY000", fixed("Incorrect arguments to EXECUTE")},
	{sql.ErrUnknownPreparedStatement, 1243, "HY000", nil},

	// Functions and procedures.
	{sql.ErrFunctionNotFound, 1305, "42000", functionMissing},
	{sql.ErrTableFunctionNotFound, 1305, "42000", functionMissing},
	{sql.ErrInvalidArgumentNumber, 1582, "42000", func(_, m string) string {
		return "Incorrect parameter count in the call to native function '" + quoted(m) + "'"
	}},
	{sql.ErrInvalidChildrenNumber, 1582, "42000", nil},
	{sql.ErrInvalidArgument, 1210, "HY000", nil},
	{sql.ErrInvalidArgumentDetails, 1210, "HY000", nil},
	{sql.ErrInvalidArgumentType, 1210, "HY000", nil},
	{sql.ErrStoredProcedureDoesNotExist, 1305, "42000", func(_, m string) string { return "PROCEDURE " + quoted(m) + " does not exist" }},
	{sql.ErrStoredProcedureAlreadyExists, 1304, "42000", func(_, m string) string { return "PROCEDURE " + quoted(m) + " already exists" }},
	{sql.ErrCallIncorrectParameterCount, 1318, "42000", nil},
	{sql.ErrProcedureRecursiveCall, 1456, "HY000", nil},
	{sql.ErrSavepointDoesNotExist, 1305, "42000", nil},
	{sql.ErrCursorNotFound, 1324, "42000", nil},
	{sql.ErrCursorAlreadyOpen, 1325, "24000", nil},
	{sql.ErrCursorNotOpen, 1326, "24000", nil},
	{expression.ErrInvalidRegexp, 3685, "HY000", nil},

	// Variables.
	{sql.ErrUnknownSystemVariable, 1193, "HY000", unknownVariable},
	{sql.ErrInvalidSetValue, 1231, "42000", setValue},
	{sql.ErrUnknownUserVariable, 1193, "HY000", nil},
	{sql.ErrInvalidSystemVariableValue, 1231, "42000", nil},
	{sql.ErrSystemVariableCodeFail, 1231, "42000", nil},
	{sql.ErrSystemVariableReadOnly, 1238, "HY000", nil},
	{sql.ErrSystemVariableSessionOnly, 1228, "HY000", nil},
	{sql.ErrSystemVariableGlobalOnly, 1229, "HY000", nil},
	{sql.ErrUserVariableNoDefault, 1230, "42000", nil},
	{sql.ErrSessionDoesNotSupportPersistence, 1235, "42000", nil},
	{sql.ErrCharSetUnknown, 1115, "42000", func(_, m string) string { return "Unknown character set: '" + afterColon(m) + "'" }},
	{sql.ErrCharSetNotYetImplementedTemp, 1115, "42000", nil},
	{sql.ErrCollationUnknown, 1273, "HY000", func(_, m string) string { return "Unknown collation: '" + afterColon(m) + "'" }},
	{sql.ErrCollationNotYetImplementedTemp, 1273, "HY000", nil},
	{sql.ErrCollationInvalidForCharSet, 1253, "42000", nil},
	{sql.ErrCollationIllegalMix, 1267, "HY000", nil},
	{sql.ErrCharSetInvalidString, 1300, "HY000", nil},
	{sql.ErrCharSetFailedToEncode, 1300, "HY000", nil},
	{sql.ErrCollationMalformedString, 1300, "HY000", nil},
	{types.ErrBadCharsetString, 1300, "HY000", nil},

	// Values.
	{sql.ErrInsertIntoNonNullableProvidedNull, 1048, "23000", func(_, m string) string { return "Column '" + quoted(m) + "' cannot be null" }},
	{sql.ErrInsertIntoNonNullableDefaultNullColumn, 1364, "HY000", nil},
	{sql.ErrPrimaryKeyViolation, 1062, "23000", duplicateEntry},
	{sql.ErrUniqueKeyViolation, 1062, "23000", duplicateEntry},
	{sql.ErrDuplicateEntry, 1062, "23000", nil},
	{sql.ErrCheckConstraintViolated, 3819, "HY000", func(_, m string) string { return "Check constraint '" + quoted(m) + "' is violated." }},
	{sql.ErrForeignKeyChildViolation, 1452, "23000", nil},
	{sql.ErrForeignKeyParentViolation, 1451, "23000", nil},
	{sql.ErrValueOutOfRange, 1264, "22003", nil},
	{types.ErrConvertToDecimalLimit, 1264, "22003", nil},
	{types.ErrConvertingToTimeOutOfRange, 1292, "22007", nil},
	{types.ErrConvertingToTime, 1292, "22007", nil},
	{types.ErrConvertingToTimeType, 1292, "22007", nil},
	{types.ErrConvertingToYear, 1264, "22003", nil},
	{types.ErrConvertingToDecimal, 1366, "HY000", nil},
	{types.ErrConvertingToEnum, 1265, "01000", nil},
	{types.ErrDataTruncatedForColumn, 1265, "01000", nil},
	{types.ErrLengthBeyondLimit, 1406, "22001", nil},
	{types.ErrLengthTooLarge, 1074, "42000", nil},
	{sql.ErrInvalidValue, 1366, "HY000", nil},
	{sql.ErrInvalidValueType, 1366, "HY000", nil},
	{sql.ErrConvertToSQL, 1366, "HY000", nil},
	{sql.ErrIncorrectValue, 1525, "HY000", nil},
	{expression.ErrIntDivDataOutOfRange, 1690, "22003", nil},
	{function.ErrDivisionByZero, 1365, "22012", fixed("Division by 0")},
	{function.ErrTooHighPrecision, 1426, "42000", nil},
	{function.ErrUintOverflow, 1690, "22003", nil},
	{function.ErrInvalidArgumentForLogarithm, 3020, "2201E", nil},
	{sql.ErrInvalidJSONText, 3141, "22032", nil},
	{sql.ErrInvalidJson, 3140, "22032", nil},
	{sql.ErrInvalidJSONArgument, 3146, "22032", nil},
	{sql.ErrJSONObjectAggNullKey, 3158, "22032", nil},
	{sql.ErrInvalidColumnDefaultValue, 1067, "42000", nil},
	{sql.ErrIncompatibleDefaultType, 1067, "42000", nil},
	{sql.ErrInvalidColTypeDefinition, 1064, "42000", nil},
	{sql.ErrMultiplePrimaryKeysDefined, 1068, "42000", fixed("Multiple primary key defined")},
	{sql.ErrWrongAutoKey, 1075, "42000", nil},
	{planbuilder.ErrPrimaryKeyOnNullField, 1171, "42000", nil},
	{sql.ErrInvalidGISData, 3037, "22023", nil},

	// Rights and modes.
	{sql.ErrDatabaseAccessDeniedForUser, 1044, "42000", nil},
	{sql.ErrTableAccessDeniedForUser, 1142, "42000", nil},
	{sql.ErrPrivilegeCheckFailed, 1142, "42000", nil},
	{sql.ErrGrantUserDoesNotExist, 1410, "42000", nil},
	{sql.ErrRevokeUserDoesNotExist, 1141, "42000", nil},
	{sql.ErrShowGrantsUserDoesNotExist, 1141, "42000", nil},
	{sql.ErrUserCreationFailure, 1396, "HY000", nil},
	{sql.ErrUserDeletionFailure, 1396, "HY000", nil},
	{sql.ErrUserAlterFailure, 1396, "HY000", nil},
	{sql.ErrReadOnly, 1290, "HY000", fixed("The MySQL server is running with the --read-only option so it cannot execute this statement")},
	{sql.ErrDatabaseWriteLocked, 1290, "HY000", nil},
	{analyzererrors.ErrReadOnlyDatabase, 1836, "HY000", nil},
	{sql.ErrReadOnlyTransaction, 1792, "25006", fixed("Cannot execute statement in a READ ONLY transaction.")},
	{sql.ErrProcedureCallAsOfReadOnly, 1290, "HY000", nil},
	{sql.ErrSecureFilePriv, 1290, "HY000", nil},
	{sql.ErrLoadDataCannotOpen, 13, "HY000", nil},
	{sql.ErrLockDeadlock, 1213, "40001", nil},
	{sql.ErrLockTimeout, 1205, "HY000", nil},
	{rowexec.ErrTableNotLockable, 1100, "HY000", nil},
	{sql.ErrNoMemoryAvailable, 1041, "HY000", nil},

	// What is not there.
	{sql.ErrUnsupportedFeature, 1235, "42000", nil},
	{sql.ErrUnsupportedSyntax, 1235, "42000", nil},
	{sql.ErrAsOfNotSupported, 1235, "42000", nil},
	{sql.ErrIncompatibleAsOf, 1210, "HY000", nil},
	{sql.ErrInvalidAsOfExpression, 1210, "HY000", nil},
	{sql.ErrViewsNotSupported, 1235, "42000", nil},
	{sql.ErrTriggersNotSupported, 1235, "42000", nil},
	{sql.ErrEventsNotSupported, 1235, "42000", nil},
	{sql.ErrStoredProceduresNotSupported, 1235, "42000", nil},
	{sql.ErrTemporaryTableNotSupported, 1235, "42000", nil},
	{sql.ErrCreateTableNotSupported, 1235, "42000", nil},
	{sql.ErrDropTableNotSupported, 1235, "42000", nil},
	{sql.ErrRenameTableNotSupported, 1235, "42000", nil},
	{sql.ErrAlterTableNotSupported, 1235, "42000", nil},
	{sql.ErrImmutableDatabaseProvider, 1235, "42000", nil},
	{sql.ErrNoForeignKeySupport, 1235, "42000", nil},
	{sql.ErrFullTextNotSupported, 1214, "HY000", nil},
	{sql.ErrDatabaseCollationsNotSupported, 1235, "42000", nil},
	{plan.ErrInsertIntoNotSupported, 1235, "42000", nil},
	{plan.ErrReplaceIntoNotSupported, 1235, "42000", nil},
	{plan.ErrOnDuplicateKeyUpdateNotSupported, 1235, "42000", nil},
	{plan.ErrDeleteFromNotSupported, 1235, "42000", nil},
	{plan.ErrUpdateNotSupported, 1235, "42000", nil},
	{plan.ErrUpdateForTableNotSupported, 1288, "HY000", nil},
	{plan.ErrTruncateNotSupported, 1235, "42000", nil},
	{plan.ErrNotIndexable, 1235, "42000", nil},
	{plan.ErrNoCheckConstraintSupport, 1235, "42000", nil},
}
