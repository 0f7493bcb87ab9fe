package dialect

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// collationSelect is SHOW COLLATION with MySQL's column names, which Connector/NET looks up; go-mysql-server's are in
// lower case.
const collationSelect = "SELECT COLLATION_NAME AS `Collation`, CHARACTER_SET_NAME AS `Charset`, ID AS `Id`, IS_DEFAULT AS `Default`, " +
	"IS_COMPILED AS `Compiled`, SORTLEN AS `Sortlen`, PAD_ATTRIBUTE AS `Pad_attribute` FROM information_schema.COLLATIONS"

// showAsSelect makes a query of a SHOW statement whose own form in go-mysql-server differs from MySQL's; others are returned as they are.
func showAsSelect(stmt sqlparser.Statement) (sqlparser.Statement, error) {
	show, ok := stmt.(*sqlparser.Show)
	if ok {
		likeNothing(show.Filter)
		if o := show.ShowTablesOpt; o != nil {
			likeNothing(o.Filter)
		}
	}
	if !ok || !strings.EqualFold(show.Type, sqlparser.KeywordString(sqlparser.COLLATION)) {
		return stmt, nil
	}
	parsed, err := parseVitess(collationSelect + " ORDER BY COLLATION_NAME")
	if err != nil {
		return nil, err
	}
	sel, ok := parsed.(*sqlparser.Select)
	if !ok {
		return nil, errMarker
	}
	if f := show.ShowCollationFilterOpt; f != nil {
		sel.Having = sqlparser.NewWhere(sqlparser.HavingStr, f)
	}
	return sel, nil
}

// likeNothing makes LIKE ” a condition that no name meets: go-mysql-server takes it for none at all.
func likeNothing(f *sqlparser.ShowFilter) {
	if f != nil && f.Like == "" && f.Filter == nil {
		f.Filter = sqlparser.BoolVal(false)
	}
}
