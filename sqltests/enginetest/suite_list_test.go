package enginetest

import (
	"github.com/dolthub/go-mysql-server/enginetest/queries"
	"github.com/dolthub/go-mysql-server/enginetest/scriptgen/setup"
)

// suite is a list of tests over the same tables.
type suite struct {
	name  string
	setup []setup.SetupScript
	cases []testCase
	mode  mode
}

// mode says how long the tables of a suite live.
type mode int

const (
	// fresh: each test begins with the tables that it names.
	fresh mode = iota
	// shared: the tests only read; the tables are made once.
	shared
	// carried: each test goes on with what the one before left.
	carried
)

// suites are what runs. The order is by topic.
func suites() []suite {
	mydb := setup.MydbData
	mytable := over(mydb, setup.MytableData)
	joins := over(mydb, setup.MytableData, setup.Pk_tablesData, setup.OthertableData, setup.NiltableData, setup.XyData, setup.FooData)
	errorTables := over(mydb, setup.MytableData, setup.Pk_tablesData, setup.MyhistorytableData, setup.OthertableData, setup.SpecialtableData,
		setup.DatetimetableData, setup.NiltableData, setup.FooData)
	return []suite{
		{"queries", over(setup.SimpleSetup...), queryCases(queries.QueryTests), shared},
		{"keyless", over(mydb, setup.KeylessData, setup.MytableData), queryCases(queries.KeylessQueries), shared},
		{"date_parse", mydb, queryCases(queries.DateParseQueries), shared},
		{"broken_queries", over(mydb, setup.MytableData, setup.Pk_tablesData, setup.Fk_tblData, setup.OthertableData), queryCases(queries.BrokenQueries), shared},
		{"convert", over(mydb, setup.TypestableData), convertCases(), shared},
		{"null_ranges", over(setup.NullsSetup...), queryCases(queries.NullRangeTests), shared},
		{"complex_index", over(setup.ComplexIndexSetup...), queryCases(queries.ComplexIndexQueries), shared},
		{"errors", errorTables, errorCases(queries.ErrorQueries), shared},
		{"joins", joins, queryCases(queries.JoinQueryTests), shared},
		{"json_table", over(mydb, setup.Pk_tablesData), queryCases(queries.JSONTableQueryTests), shared},
		{"blobs", over(mydb, setup.BlobData, setup.MytableData), queryCases(queries.BlobQueries), shared},

		{"join_scripts", joins, scriptCases(queries.JoinScriptTests), fresh},
		{"lateral", mydb, scriptCases(queries.LateralJoinScriptTests), fresh},
		{"logic", mydb, scriptCases(queries.SQLLogicJoinTests, queries.SQLLogicSubqueryTests), fresh},
		{"json_table_scripts", mydb, scriptCases(queries.JSONTableScriptTests), fresh},
		{"json", mydb, scriptCases(queries.JsonScripts), fresh},
		{"aliases", mytable, scriptCases(queries.ColumnAliasQueries), fresh},
		{"derived", mydb, scriptCases(queries.DerivedTableOuterScopeVisibilityQueries), fresh},
		{"order_group", mydb, scriptCases(queries.OrderByGroupByScriptTests), fresh},
		{"ansi_quotes", mydb, scriptCases(queries.AnsiQuotesTests), fresh},
		{"numeric_errors", mydb, scriptCases(queries.NumericErrorQueries), fresh},
		{"scripts", mydb, scriptCases(queries.ScriptTests), fresh},
		{"prepared", mydb, scriptCases(queries.PreparedScriptTests), fresh},
		{"indexes", mydb, scriptCases(queries.IndexQueries), fresh},
		{"collations", mydb, collationCases(queries.CharsetCollationEngineTests), fresh},

		{"inserts", over(mydb, setup.MytableData, setup.KeylessData, setup.NiltableData, setup.TypestableData, setup.EmptytableData,
			setup.AutoincrementData, setup.OthertableData), writeCases(queries.InsertQueries), fresh},
		{"insert_scripts", mydb, scriptCases(queries.InsertScripts, queries.InsertDuplicateKeyKeyless), fresh},
		{"insert_errors", mytable, failCases(queries.InsertErrorTests), fresh},
		{"insert_error_scripts", mydb, scriptCases(queries.InsertErrorScripts), fresh},
		{"insert_ignore", mydb, scriptCases(queries.InsertIgnoreScripts, queries.IgnoreWithDuplicateUniqueKeyKeylessScripts), fresh},
		{"replaces", over(mydb, setup.MytableData, setup.TypestableData), writeCases(queries.ReplaceQueries), fresh},
		{"replace_errors", mytable, failCases(queries.ReplaceErrorTests), fresh},
		{"load_data", mydb, scriptCases(queries.LoadDataScripts, queries.LoadDataErrorScripts), fresh},
		{"blob_writes", over(mydb, setup.BlobData), writeCases(queries.BlobWriteQueries), fresh},
		{"transactions", mydb, transactionCases(queries.TransactionTests), fresh},

		{"create_table", over(mydb, setup.MytableData, setup.FooData), writeCases(queries.CreateTableQueries), fresh},
		{"create_table_scripts", mydb, scriptCases(queries.CreateTableScriptTests), fresh},
		{"alter_table", over(mydb, setup.Pk_tablesData), scriptCases(queries.AlterTableScripts), fresh},
		{"primary_keys", mydb, scriptCases(queries.AddDropPrimaryKeyScripts), fresh},
		{"rename_table", over(mydb, setup.MytableData, setup.OthertableData, setup.NiltableData, setup.EmptytableData), scriptCases(queries.RenameTableScripts), carried},
		{"rename_column", over(mydb, setup.MytableData, setup.TabletestData), scriptCases(queries.RenameColumnScripts), carried},
		{"add_column", mytable, scriptCases(queries.AddColumnScripts), carried},
		{"modify_column", over(mydb, setup.MytableData, setup.Mytable_del_idxData), scriptCases(queries.ModifyColumnScripts), carried},
		{"drop_column", over(mydb, setup.MytableData, setup.TabletestData), scriptCases(queries.DropColumnScripts), carried},
		{"drop_column_keyless", over(mydb, setup.TabletestData), scriptCases(queries.DropColumnKeylessTablesScripts), carried},
		{"ordinals", over(setup.OrdinalSetup...), queryCases(queries.OrdinalDDLQueries), shared},
		{"ordinals_writes", over(setup.OrdinalSetup...), writeCases(queries.OrdinalDDLWriteQueries), fresh},
		{"column_defaults", mydb, scriptCases(queries.ColumnDefaultTests), fresh},
		{"create_database", mydb, scriptCases(queries.CreateDatabaseScripts), carried},
		{"drop_database", mydb, scriptCases(queries.DropDatabaseScripts), fresh},
		{"variables", mydb, scriptCases(queries.VariableQueries), fresh},
		{"variable_errors", mydb, errorCases(queries.VariableErrorTests), fresh},
		{"info_schema", over(mydb, setup.MytableData, setup.Fk_tblData, setup.FooData), queryCases(queries.InfoSchemaQueries), shared},
		{"info_schema_scripts", over(mydb, setup.MytableData, setup.Fk_tblData, setup.FooData), scriptCases(queries.InfoSchemaScripts), fresh},
		{"table_status", over(mydb, setup.MytableData, setup.TabletestData), queryCases(queries.ShowTableStatusQueries), shared},
		{"regexp", over(over(setup.SimpleSetup...), regexpTable), regexpCases(), shared},
	}
}

// regexpTable is the table that the tests of regular expressions name.
var regexpTable = []setup.SetupScript{{
	"CREATE TABLE tests(pk int primary key, str text, pattern text, flags text)",
	"INSERT INTO tests VALUES (1, 'testing', 'TESTING', 'ci')",
}}

// over puts setups one behind the other.
func over(lists ...[]setup.SetupScript) (out []setup.SetupScript) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}
