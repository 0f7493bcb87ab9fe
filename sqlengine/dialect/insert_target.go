package dialect

import (
	"encoding/json"
	"fmt"
	"strings"
)

// InsertTarget is what an INSERT or REPLACE says about its table besides the
// table's name. It travels on the name: [DecodeInsertTarget] takes the two apart.
type InsertTarget struct {
	Overwrite bool `json:"overwrite,omitempty"` // INSERT OVERWRITE
	// Partition has the columns of PARTITION (p = v, …) that have a value, as
	// typed; nil = NULL. These columns are in no column list of the statement.
	Partition map[string]*string `json:"partition,omitempty"`
	// Dynamic are the names of PARTITION (p, …) without a value: partition
	// columns whose values come with the rows.
	Dynamic []string `json:"dynamic,omitempty"`
	// Options are those of an OPTIONS hint behind the table.
	Options map[string]string `json:"options,omitempty"`
	// Change is set for UPDATE and DELETE, which reach the binder as an INSERT of the rows they find.
	Change *ChangeTarget `json:"change,omitempty"`
}

// ChangeTarget says what becomes of the rows of a query: its first columns are those of the table.
type ChangeTarget struct {
	Delete bool `json:"delete,omitempty"`
	// Sets are the assignments of UPDATE. The values of those that are not ByDefault follow the table's columns, in this order.
	Sets   []ChangeSet `json:"sets,omitempty"`
	Ignore bool        `json:"ignore,omitempty"`
	// Joined: the query may give a row more than once.
	Joined bool `json:"joined,omitempty"`
	// All: a DELETE of all rows. Equal are the terms of a condition that is no more than column = literal AND ….
	All   bool        `json:"all,omitempty"`
	Equal []EqualTerm `json:"equal,omitempty"`
	// Limited: there is a LIMIT. Bounded are the columns that the condition compares with something: no row is meant whose values it excludes.
	Limited bool     `json:"limited,omitempty"`
	Bounded []string `json:"bounded,omitempty"`
}

// ChangeSet is an assignment.
type ChangeSet struct {
	Column string `json:"column"`
	// ByDefault: the value is the column's default.
	ByDefault bool `json:"default,omitempty"`
}

// EqualTerm is a condition column = literal.
type EqualTerm struct {
	Column, Text string
	// Number: the literal is digits, else a text.
	Number bool
}

// IsZero reports a plain INSERT.
func (t InsertTarget) IsZero() bool {
	return !t.Overwrite && len(t.Partition) == 0 && len(t.Dynamic) == 0 && len(t.Options) == 0 && t.Change == nil
}

// EncodeInsertTarget returns the name that stands for table with t, which
// is the table's own name for a plain INSERT.
func EncodeInsertTarget(table string, t InsertTarget) string {
	if t.IsZero() {
		return table
	}
	b, err := json.Marshal(t)
	if err != nil { // strings, and maps of strings, always encode
		panic("dialect: encoding an insert target: " + err.Error())
	}
	return table + carrierPrefix + string(b)
}

// DecodeInsertTarget takes a table name of an Insert statement apart. Names that
// carry nothing are returned as they are.
func DecodeInsertTarget(name string) (table string, t InsertTarget, err error) {
	table, rest, ok := strings.Cut(name, carrierPrefix)
	if !ok {
		return name, t, nil
	}
	if len(rest) > maxCarrierBytes {
		return table, t, fmt.Errorf("dialect: an insert target of %d bytes is longer than %d", len(rest), maxCarrierBytes)
	}
	if err := json.Unmarshal([]byte(rest), &t); err != nil {
		return table, t, fmt.Errorf("dialect: damaged insert target: %w", err)
	}
	return table, t, nil
}

// rewriteInsert makes MySQL's INSERT of the Paimon dialect's one, whose verb is at
// token i: INSERT {INTO | OVERWRITE} [TABLE] t [hint] [PARTITION (…)] [hint] ….
func (s *script) rewriteInsert(i int) error {
	var t InsertTarget
	insert := s.is(i, "INSERT")
	for i++; s.is(i, "LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE") || s.kind(i) == KindHint; i++ {
	}
	switch {
	case s.is(i, "INTO"):
		i++
	case insert && s.is(i, "OVERWRITE") && s.name(i+1) && !s.is(i+1, "VALUES", "VALUE", "SELECT", "SET", "WITH"):
		if s.is(i-1, "IGNORE") {
			return s.errAt(i)
		}
		t.Overwrite = true
		s.replace(i, "INTO")
		i++
	}
	if s.is(i, "TABLE") && s.name(i+1) {
		s.replace(i, "")
		i++
	}
	end := s.nameEnd(i)
	if end == i {
		return nil
	}
	name := end - 1
	i = end
	hint := func() error {
		o, ok, err := s.optionsHint(i)
		if err != nil || !ok {
			return err
		}
		if t.Options == nil {
			t.Options = o
		} else {
			for k, v := range o {
				t.Options[k] = v
			}
		}
		s.replace(i, "")
		s.taken[i] = true
		i++
		return nil
	}
	if err := hint(); err != nil {
		return err
	}
	if s.seq(i, "PARTITION", "(") {
		c := &cursor{s: s, i: i + 1}
		c.insertPartition(&t)
		if c.err != nil {
			return c.err
		}
		s.replaceSpan(i, c.i-1, "")
		i = c.i
		if err := hint(); err != nil {
			return err
		}
	}
	if !t.IsZero() {
		s.replace(name, quoteName(EncodeInsertTarget(s.value(name), t)))
	}
	return nil
}

// insertPartition reads (p = v, q, …).
func (c *cursor) insertPartition(t *InsertTarget) {
	c.expect("(")
	for c.err == nil {
		if c.s.kind(c.i) == KindParam || c.s.is(c.i+1, "=") && c.s.kind(c.i+2) == KindParam {
			c.err = unsupported("A parameter in a PARTITION clause", "write the value as a literal, or give the partition column with the rows")
			return
		}
		name := c.ident()
		duplicate := false
		for p := range t.Partition {
			duplicate = duplicate || strings.EqualFold(p, name)
		}
		for _, p := range t.Dynamic {
			duplicate = duplicate || strings.EqualFold(p, name)
		}
		if c.err == nil && duplicate {
			c.err = &Error{Number: ErrnoFieldTwice, State: "42000", Message: fmt.Sprintf("Column '%s' specified twice", name)}
			return
		}
		if c.accept("=") {
			v := c.partitionLiteral()
			if t.Partition == nil {
				t.Partition = map[string]*string{}
			}
			t.Partition[name] = v
		} else {
			t.Dynamic = append(t.Dynamic, name)
		}
		if !c.accept(",") {
			break
		}
	}
	c.expect(")")
}
