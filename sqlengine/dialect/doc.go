// Package dialect turns the SQL text that users and clients send into what
// go-mysql-server and its vitess parser can plan, without forking either.
//
// The stages, in order:
//
//  1. Lex (token_lex.go): tokens with byte offsets; aware of ANSI_QUOTES and
//     NO_BACKSLASH_ESCAPES, conditional comments, hints and `$` in names.
//  2. Split (statement_split.go): a COM_QUERY text into statements.
//  3. Own statements (statement_*.go): what vitess has no grammar for is parsed
//     by recursive descent into exported structs ([ShowPartitions], [Explain],
//     ...) and wrapped in a vitess InjectedStatement. The planner gives them a
//     plan through [Options].Plan. Everything that defines data and CALL are
//     such statements (statement_ddl.go, ddl_*.go): one grammar takes the
//     spellings of MySQL, Flink and Spark, and gives schema's definitions and
//     changes. What MySQL can say and Paimon cannot keep is listed as ignored.
//  4. Token rewriting (rewrite_*.go): everything else becomes vitess SQL: `$`
//     names are quoted, time travel and OPTIONS hints become carriers (see
//     [Carrier]), cast types and typed literals are mapped, and so on. A
//     [rewritten] text knows for each of its parts where it came from.
//  5. vitess parses the rewritten text.
//  6. AST passes (pass_*.go): marker functions left by step 4 become AST,
//     known defects of go-mysql-server v0.20.0 are avoided, column headers and
//     statement positions are put back to the user's own text.
//
// # Contract with sqlengine/planner
//
// The passes leave calls of functions that the planner's function provider
// must serve:
//
//   - [AggregateTunnel] ("last"): SUM, AVG and the STDDEV/VARIANCE/BIT family
//     become last('<kind>', x), where kind is one of the Kind constants and has
//     the suffix [DistinctSuffix] for DISTINCT. go-mysql-server derives no type
//     from that name, so the planner's own aggregation gives exact results. Its
//     String() must differ for different kinds and arguments: the binder
//     recognises equal aggregates by it. last(x) and first(x) with one argument
//     are go-mysql-server's own aggregates and untouched.
//     With OVER, the functions of [WindowPrefix] go the same way.
//   - [RegexpFunction] ("regexp_like"): a REGEXP b, a RLIKE b.
//   - [JSONExtractFunction], [JSONUnquoteFunction]: a -> b, a ->> b.
//
// AS OF expressions that are not literals (AS OF ?, @v, NOW() - INTERVAL 1 DAY),
// assignments inside expressions and ~x are expressions of this package
// ([AsOfExpr], [AssignUserVar], [BitNot]) and need nothing from the planner.
// INSERT OVERWRITE, PARTITION (p = v, …) and a hint on the table of an INSERT or
// REPLACE are an [InsertTarget] on the table's name: the planner's database takes
// names apart with [DecodeInsertTarget], and gives the statement a table without
// the columns of InsertTarget.Partition, whose values the statement does not hold.
//
// AS OF ? needs no substitution by the wire front end either: while a statement
// is prepared the carrier names no point, and each execution binds anew.
//
// # Use by a wire front end
//
// [Split] cuts a COM_QUERY text, [Parser.ParseStatement] parses one piece; the
// result has the statement for the engine, the user's text (for the process
// list; positions in the statement refer to it) and the number of parameters,
// which are bound as v1, v2, …. An empty text gives
// sqlparser.ErrEmpty, one of comments alone [CommentOnly]; every other error is an [Error] with MySQL's number,
// SQLSTATE and message.
//
// The package may import go-mysql-server, vitess, storage/errs and storage/schema (for types and changes). It must
// never read tables, resolve names or know a catalog.
package dialect
