package wire

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/errmap"
)

// commandFieldList is COM_FIELD_LIST: the columns of a table, for the command line client's completion.
func (c *conn) commandFieldList(body []byte) error {
	p := payload{b: body}
	table := p.nulStringOrRest()
	wild := string(p.b)
	var defs []columnDef
	err := c.withOperation(func(ctx *sql.Context) error {
		db := c.session.GetCurrentDatabase()
		if db == "" {
			return errmap.New(1046, "3D000", "No database selected")
		}
		if err := beginTransaction(ctx); err != nil {
			return err
		}
		defer c.endTransaction(ctx)
		t, d, err := c.srv.cfg.Engine.Analyzer.Catalog.Table(ctx, db, table)
		if err != nil {
			return err
		}
		var sch sql.Schema
		for _, col := range t.Schema() {
			if wild != "" && !likeMatch(strings.ToLower(wild), strings.ToLower(col.Name)) {
				continue
			}
			cp := *col
			cp.Source, cp.DatabaseSource = t.Name(), d.Name()
			sch = append(sch, &cp)
		}
		defs = defineColumns(ctx, sch, nil, nil, charsetOf(c.session))
		return nil
	})
	if err != nil {
		return c.answer(err)
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	for i := range defs {
		c.w.begin()
		c.w.buf = defs[i].append(c.w.buf, true)
		c.w.end()
	}
	c.writeRowsEnd(okPacket{})
	return nil
}

// likeMatch is LIKE with %, _ and the escape \, on bytes.
func likeMatch(pattern, s string) bool {
	p, i := 0, 0
	star, mark := -1, 0
	for i < len(s) {
		if p < len(pattern) {
			switch c := pattern[p]; {
			case c == '%':
				star, mark = p, i
				p++
				continue
			case c == '_':
				p, i = p+1, i+1
				continue
			case c == '\\' && p+1 < len(pattern) && pattern[p+1] == s[i]:
				p, i = p+2, i+1
				continue
			case c == s[i]:
				p, i = p+1, i+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		p, i = star+1, mark
	}
	return strings.Trim(pattern[p:], "%") == ""
}
