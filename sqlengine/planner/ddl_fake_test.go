package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
)

// fakeLake is a fakeCatalog that can be changed. It keeps definitions as given and writes down what was asked.
type fakeLake struct {
	*fakeCatalog
	defs  map[string]schema.Definition
	calls []string
	// fail is what the next change answers.
	fail error
}

func newFakeLake() *fakeLake {
	return &fakeLake{fakeCatalog: newFakeCatalog(), defs: map[string]schema.Definition{}}
}

func (l *fakeLake) did(format string, args ...any) error {
	l.calls = append(l.calls, fmt.Sprintf(format, args...))
	err := l.fail
	l.fail = nil
	return err
}

func (l *fakeLake) CreateDatabase(_ context.Context, name string) error {
	if _, ok := l.tables[name]; ok {
		return errs.Existsf("database %s", name)
	}
	if err := l.did("create database %s", name); err != nil {
		return err
	}
	l.tables[name] = map[string]*fakeTable{}
	return nil
}

func (l *fakeLake) DropDatabase(_ context.Context, name string, cascade bool) error {
	if err := l.did("drop database %s cascade=%t", name, cascade); err != nil {
		return err
	}
	delete(l.tables, name)
	return nil
}

func (l *fakeLake) CreateTable(_ context.Context, db, name string, def schema.Definition) error {
	if strings.Contains(name, "$") {
		return errs.Invalidf("Cannot 'createTable' for system table '%s', please use data table.", name)
	}
	if _, ok := l.tables[db][name]; ok {
		return errs.Existsf("table %s.%s", db, name)
	}
	var fields []string
	for _, f := range def.Fields {
		text := f.Name + " " + f.Type.String()
		if f.Default != nil {
			text += " =" + *f.Default
		}
		fields = append(fields, text)
	}
	if err := l.did("create %s.%s (%s) pk=%v by=%v %v %v %q", db, name, strings.Join(fields, ", "), def.PrimaryKeys, def.PartitionKeys, def.OptionKeys, def.Options, def.Comment); err != nil {
		return err
	}
	t := newFakeTable(slices.Clone(def.Fields)...)
	t.keys, t.parts, t.options, t.comment = def.PrimaryKeys, def.PartitionKeys, def.Options, def.Comment
	l.add(db, name, t)
	l.defs[db+"."+name] = def
	return nil
}

func (l *fakeLake) Definition(_ context.Context, db, name string) (schema.Definition, error) {
	base, _, _ := strings.Cut(name, "$branch_")
	if _, ok := l.tables[db][base]; !ok {
		return schema.Definition{}, errs.NotFoundf("table %s.%s does not exist", db, name)
	}
	return l.defs[db+"."+base], nil
}

func (l *fakeLake) AlterTable(_ context.Context, db, name string, changes []schema.Change) error {
	var out []string
	for _, c := range changes {
		out = append(out, changeText(c))
	}
	return l.did("alter %s.%s: %s", db, name, strings.Join(out, "; "))
}

func changeText(c schema.Change) string {
	join := func(p []string) string { return strings.Join(p, ".") }
	text := func(s *string) string {
		if s == nil {
			return "none"
		}
		return *s
	}
	switch c := c.(type) {
	case schema.AddColumn:
		out := "add " + join(c.Path) + " " + c.Type.String()
		if c.Default != nil {
			out += " =" + *c.Default
		}
		if c.Comment != "" {
			out += " #" + c.Comment
		}
		if c.Move != nil {
			out += fmt.Sprintf(" after %q", c.Move.After)
		}
		return out
	case schema.RenameColumn:
		return "rename " + join(c.Path) + " to " + c.To
	case schema.DropColumn:
		return "drop " + join(c.Path)
	case schema.ChangeType:
		return fmt.Sprintf("type %s %s keep=%t", join(c.Path), c.Type, c.KeepNullability)
	case schema.ChangeNullability:
		return fmt.Sprintf("nullable %s %t", join(c.Path), c.Nullable)
	case schema.ChangeComment:
		return "comment " + join(c.Path) + " " + c.Comment
	case schema.ChangeDefault:
		return "default " + join(c.Path) + " " + text(c.Default)
	case schema.ChangePosition:
		return fmt.Sprintf("move %s after %q", c.Move.Column, c.Move.After)
	case schema.SetOption:
		return "set " + c.Key + "=" + c.Value
	case schema.ResetOption:
		return "reset " + c.Key
	case schema.SetComment:
		return "table comment " + text(c.Comment)
	case schema.DropPrimaryKey:
		return "drop key"
	}
	return fmt.Sprintf("%T", c)
}

func (l *fakeLake) DropTable(_ context.Context, db, name string) error {
	if strings.Contains(name, "$") {
		return errs.Invalidf("Cannot 'dropTable' for system table '%s', please use data table.", name)
	}
	if err := l.did("drop %s.%s", db, name); err != nil {
		return err
	}
	delete(l.tables[db], name)
	return nil
}

func (l *fakeLake) RenameTable(_ context.Context, db, name, toDB, to string) error {
	t, ok := l.tables[db][name]
	if !ok {
		return errs.NotFoundf("table %s.%s does not exist", db, name)
	}
	if _, ok := l.tables[toDB][to]; ok {
		return errs.Existsf("table %s.%s", toDB, to)
	}
	if err := l.did("rename %s.%s to %s.%s", db, name, toDB, to); err != nil {
		return err
	}
	delete(l.tables[db], name)
	l.add(toDB, to, t)
	l.defs[toDB+"."+to] = l.defs[db+"."+name]
	return nil
}

func (l *fakeLake) TruncateTable(_ context.Context, db, name string) error {
	if _, ok := l.tables[db][name]; !ok {
		return errs.NotFoundf("table %s.%s does not exist", db, name)
	}
	return l.did("truncate %s.%s", db, name)
}

func specText(specs []map[string]*string) string {
	var out []string
	for _, s := range specs {
		var parts []string
		for _, k := range sortedKeys(s) {
			v := "NULL"
			if s[k] != nil {
				v = *s[k]
			}
			parts = append(parts, k+"="+v)
		}
		out = append(out, strings.Join(parts, "/"))
	}
	return strings.Join(out, " ")
}

func (l *fakeLake) DropPartitions(_ context.Context, db, name string, specs []map[string]*string, ifExists bool) error {
	return l.did("drop partitions %s.%s %s if=%t", db, name, specText(specs), ifExists)
}

func (l *fakeLake) AddPartitions(_ context.Context, db, name string, specs []map[string]*string, ifNotExists bool) error {
	return l.did("add partitions %s.%s %s if=%t", db, name, specText(specs), ifNotExists)
}

func (l *fakeLake) OpenSink(context.Context, string, string, relation.SinkOptions) (relation.Sink, error) {
	return nil, errs.Unsupportedf("no sink")
}

func (l *fakeLake) Procedures() []string {
	return []string{"compact", "create_tag", "list_all", "replace_tag"}
}

func (l *fakeLake) Call(_ context.Context, name string, args []ProcedureArg, o CallOptions) (relation.Relation, error) {
	var out []string
	for _, a := range args {
		text := "NULL"
		if a.Value != nil {
			text = *a.Value
		}
		if a.Name != "" {
			text = a.Name + "=>" + text
		}
		out = append(out, text)
	}
	if err := l.did("call %s(%s) in %s", name, strings.Join(out, " | "), o.Database); err != nil {
		return nil, err
	}
	switch name {
	case "compact":
		return nil, nil
	case "list_all":
		return newFakeTable(field("id", schema.BigInt), field("what", schema.Varchar)).rows([]any{1, "a"}, []any{2, nil}, []any{3, "c"}), nil
	}
	return newFakeTable(field("result", schema.Varchar)).rows([]any{"Success"}), nil
}
