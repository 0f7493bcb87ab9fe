package dialect

import (
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

func TestShowCollation(t *testing.T) {
	for text, having := range map[string]string{
		"SHOW COLLATION":                       "",
		"SHOW COLLATION LIKE 'utf8%'":          "`collation` like 'utf8%'",
		"show collation where `Charset` = 'x'": "`Charset` = 'x'",
	} {
		parsed, err := NewParser(Options{}).ParseStatement(text, Mode{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		sel, ok := parsed.Statement.(*sqlparser.Select)
		if !ok {
			t.Errorf("%s: %T", text, parsed.Statement)
			continue
		}
		var names []string
		for _, e := range sel.SelectExprs {
			names = append(names, e.(*sqlparser.AliasedExpr).As.String())
		}
		if got := strings.Join(names, ","); got != "Collation,Charset,Id,Default,Compiled,Sortlen,Pad_attribute" {
			t.Errorf("%s: columns %s", text, got)
		}
		got := ""
		if sel.Having != nil {
			got = sqlparser.String(sel.Having.Expr)
		}
		if !strings.EqualFold(strings.ReplaceAll(got, "`", ""), strings.ReplaceAll(having, "`", "")) {
			t.Errorf("%s: having %s", text, got)
		}
	}
}
