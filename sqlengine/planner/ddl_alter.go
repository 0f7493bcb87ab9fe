package planner

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/sqlengine/dialect"
	"github.com/tributarydb/tributary/sqlengine/errmap"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// alterTable is ALTER TABLE: the changes of columns and options are one new schema, what touches partitions, tags or the name
// comes alone or behind.
func (e *Engine) alterTable(ctx *sql.Context, s dialect.AlterTable) error {
	return e.changeBranch(ctx, s.Table, func(w WritableCatalog, db, name string) error {
		def, err := w.Definition(ctx, db, name)
		if isMissing(err) && s.IfExists {
			note(ctx, 1146, "Table '"+db+"."+name+"' doesn't exist")
			return nil
		}
		if err != nil {
			return missingTable(err, db, name)
		}
		l := newLowering(name, def)
		var rest []dialect.Action
		for _, a := range s.Actions {
			done, err := l.action(a)
			if err != nil {
				return err
			}
			if !done {
				rest = append(rest, a)
			}
		}
		if len(rest) > 1 || len(rest) == 1 && len(l.changes) > 0 {
			for _, a := range rest {
				if _, ok := a.(dialect.RenameTo); !ok || len(rest) > 1 {
					return errs.Unsupportedf("an ALTER TABLE of partitions, tags or the name has one action; use several statements")
				}
			}
		}
		if len(l.changes) > 0 {
			if err := w.AlterTable(ctx, db, name, l.changes); err != nil {
				return missingTable(err, db, name)
			}
		}
		for _, a := range rest {
			if err := e.alterOther(ctx, w, db, name, s.Table, def, a); err != nil {
				return err
			}
		}
		for _, n := range l.notes {
			note(ctx, n.code, n.text)
		}
		if s.Keys {
			note(ctx, noteNoOption, "Table storage engine for '"+name+"' doesn't have this option")
		}
		warnIgnored(ctx, s.Ignored)
		return nil
	})
}

// alterOther runs an action that is no change of the schema.
func (e *Engine) alterOther(ctx *sql.Context, w WritableCatalog, db, name string, table dialect.Name, def schema.Definition, a dialect.Action) error {
	switch a := a.(type) {
	case dialect.RenameTo:
		return e.renameTable(ctx, dialect.Name{DB: db, Name: table.Name}, dialect.Name{DB: orDefault(a.To.DB, db), Name: a.To.Name})
	case dialect.AddPartitions:
		specs, err := partitionSpecs(def, db, name, a.Specs)
		if err != nil {
			return err
		}
		return w.AddPartitions(ctx, db, name, specs, a.IfNotExists)
	case dialect.DropPartitions:
		specs, err := partitionSpecs(def, db, name, a.Specs)
		if err != nil {
			return err
		}
		return missingPartition(w.DropPartitions(ctx, db, name, specs, a.IfExists))
	case dialect.TagAction:
		return e.alterTag(ctx, db, name, a)
	}
	return errs.Unsupportedf("ALTER TABLE with an action of type %T", a)
}

// missingPartition gives a partition that is missing MySQL's number; other errors stay.
func missingPartition(err error) error {
	if isMissing(err) {
		return errmap.Wrap(err, 1507, "HY000", "%s", err)
	}
	return err
}

func orDefault(s, d string) string {
	if s == "" {
		return d
	}
	return s
}

// partitionSpecs names the columns of partition specs as the table does.
func partitionSpecs(def schema.Definition, db, table string, specs []map[string]*string) ([]map[string]*string, error) {
	keys := partitionKeys(def)
	if len(keys) == 0 {
		return nil, errs.Invalidf("Table %s.%s is not partitioned.", db, table)
	}
	out := make([]map[string]*string, len(specs))
	for i, spec := range specs {
		out[i] = map[string]*string{}
		for c, v := range spec {
			k := slices.IndexFunc(keys, func(k string) bool { return strings.EqualFold(k, c) })
			if k < 0 {
				return nil, errs.Invalidf("column '%s' is no partition column; these are: %s", c, strings.Join(keys, ", "))
			}
			out[i][keys[k]] = v
		}
	}
	return out, nil
}

// partitionKeys are the partition columns of a definition.
func partitionKeys(def schema.Definition) []string {
	if len(def.PartitionKeys) > 0 {
		return def.PartitionKeys
	}
	return splitNames(def.Options["partition"])
}

// primaryKeys are the key columns of a definition.
func primaryKeys(def schema.Definition) []string {
	if len(def.PrimaryKeys) > 0 {
		return def.PrimaryKeys
	}
	return splitNames(def.Options["primary-key"])
}

func splitNames(list string) []string {
	var out []string
	for n := range strings.SplitSeq(list, ",") {
		if n = strings.TrimSpace(n); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// loweringNote is a note of an ALTER TABLE.
type loweringNote struct {
	code int
	text string
}

// lowering turns the actions of an ALTER TABLE into changes of a schema. It follows the columns as they change, so that each
// action may name what an earlier one made.
type lowering struct {
	table   string
	fields  []schema.Field
	keys    []string
	changes []schema.Change
	notes   []loweringNote
}

func newLowering(table string, def schema.Definition) *lowering {
	return &lowering{table: table, fields: slices.Clone(def.Fields), keys: slices.Clone(primaryKeys(def))}
}

func (l *lowering) add(c ...schema.Change) { l.changes = append(l.changes, c...) }

func (l *lowering) unknown(path []string) error {
	return errmap.New(1054, "42S22", "Unknown column '%s' in '%s'", strings.Join(path, "."), l.table)
}

// action lowers one action; done is false for those that are no change of the schema.
func (l *lowering) action(a dialect.Action) (done bool, err error) {
	switch a := a.(type) {
	case dialect.AddColumns:
		return true, l.addColumn(a)
	case dialect.ModifyColumn:
		return true, l.modifyColumn(a)
	case dialect.DropColumn:
		return true, l.dropColumn(a)
	case dialect.Change:
		return true, l.change(a.Change)
	case dialect.AddPrimaryKey:
		return true, l.addPrimaryKey(a.Columns)
	}
	return false, nil
}

// resolve finds a column or nested field, and gives its path as the table names it.
func (l *lowering) resolve(path []string) ([]string, *schema.Field, bool) {
	return resolvePath(l.fields, path)
}

// resolvePath finds a field. "element" is an ARRAY's or MULTISET's element, "key" and "value" a MAP's.
func resolvePath(fields []schema.Field, path []string) ([]string, *schema.Field, bool) {
	i, ok := fieldAt(fields, path[0])
	if !ok {
		return nil, nil, false
	}
	f := &fields[i]
	out := []string{f.Name}
	for rest := path[1:]; len(rest) > 0; rest = rest[1:] {
		if f.Type.Root == schema.Row {
			sub, found, ok := resolvePath(f.Type.Fields, rest)
			return append(out, sub...), found, ok
		}
		inner, name := innerType(f.Type, rest[0])
		if inner == nil {
			return nil, nil, false
		}
		out = append(out, name)
		f = &schema.Field{Name: name, Type: inner}
	}
	return out, f, true
}

// innerType is the type that a name of a path means inside a type without named fields; nil for none.
func innerType(t *schema.Type, name string) (*schema.Type, string) {
	switch n := strings.ToLower(name); {
	case n == "element" && (t.Root == schema.Array || t.Root == schema.Multiset):
		return t.Elem, n
	case n == "value" && t.Root == schema.Map:
		return t.Elem, n
	case n == "key" && t.Root == schema.Map:
		return t.Key, n
	}
	return nil, ""
}

// move names the other column of a FIRST or AFTER as the table does.
func (l *lowering) move(m *schema.Move, column string) (*schema.Move, error) {
	if m == nil {
		return nil, nil
	}
	out := schema.Move{Column: column, Last: m.Last}
	if m.After != "" {
		i, ok := fieldAt(l.fields, m.After)
		if !ok {
			return nil, l.unknown([]string{m.After})
		}
		out.After = l.fields[i].Name
	}
	return &out, nil
}

// place moves a column of l.fields.
func (l *lowering) place(m *schema.Move) {
	i, ok := fieldAt(l.fields, m.Column)
	if !ok {
		return
	}
	f := l.fields[i]
	fields := slices.Delete(slices.Clone(l.fields), i, i+1)
	at := 0
	if m.Last {
		at = len(fields)
	} else if m.After != "" {
		k, _ := fieldAt(fields, m.After)
		at = k + 1
	}
	l.fields = slices.Insert(fields, at, f)
}

func (l *lowering) addColumn(a dialect.AddColumns) error {
	d := &a.Column
	if _, _, there := l.resolve(d.Path); there {
		if a.IfNotExists {
			l.notes = append(l.notes, loweringNote{1060, "Duplicate column name '" + d.Field.Name + "'"})
			return nil
		}
		return duplicateColumn(d.Field.Name)
	}
	path := []string{d.Field.Name}
	m, err := l.move(d.Move, d.Field.Name)
	if len(d.Path) > 1 {
		parent, f, ok := l.resolve(d.Path[:len(d.Path)-1])
		if !ok {
			return l.unknown(d.Path[:len(d.Path)-1])
		}
		if f.Type.Root != schema.Row {
			return errs.Invalidf("column '%s' is of type %s; only a ROW can get a field", strings.Join(parent, "."), f.Type)
		}
		path = append(parent, d.Field.Name)
		m, err = (&lowering{table: l.table, fields: f.Type.Fields}).move(d.Move, d.Field.Name)
	}
	if err != nil {
		return err
	}
	l.add(schema.AddColumn{Path: path, Type: d.Field.Type, Comment: d.Field.Description, Default: d.Field.Default, Move: m})
	if len(path) == 1 {
		l.fields = append(l.fields, d.Field)
		if m != nil {
			l.place(m)
		}
	}
	if d.PrimaryKey {
		return l.addPrimaryKey([]string{d.Field.Name})
	}
	return nil
}

func (l *lowering) dropColumn(a dialect.DropColumn) error {
	path, _, ok := l.resolve(a.Path)
	if !ok {
		if a.IfExists {
			l.notes = append(l.notes, loweringNote{1091, "Can't DROP '" + strings.Join(a.Path, ".") + "'; check that column/key exists"})
			return nil
		}
		return cannotDrop(strings.Join(a.Path, "."))
	}
	l.add(schema.DropColumn{Path: path})
	if len(path) == 1 {
		i, _ := fieldAt(l.fields, path[0])
		l.fields = slices.Delete(slices.Clone(l.fields), i, i+1)
	}
	return nil
}

// modifyColumn makes the changes that give a column its new definition. What is as it was makes none.
func (l *lowering) modifyColumn(a dialect.ModifyColumn) error {
	path, f, ok := l.resolve(a.Path)
	if !ok {
		return l.unknown(a.Path)
	}
	d := &a.Column
	top := len(path) == 1
	changes, err := typeChanges(path, f.Type, d.Field.Type)
	if err != nil {
		return err
	}
	l.add(changes...)
	isKey := top && slices.Contains(l.keys, f.Name)
	if d.Field.Type.NotNull != f.Type.NotNull && (!isKey || d.HasNull) {
		l.add(schema.ChangeNullability{Path: path, Nullable: !d.Field.Type.NotNull})
	}
	if d.Field.Description != f.Description && (top || d.HasComment) {
		l.add(schema.ChangeComment{Path: path, Comment: d.Field.Description})
	}
	if top && !sameText(d.Field.Default, f.Default) {
		l.add(schema.ChangeDefault{Path: path, Default: d.Field.Default})
	}
	m, err := l.move(d.Move, f.Name)
	if err != nil {
		return err
	}
	if m != nil && top && m.After == "" && !m.Last && l.fields[0].Name == f.Name {
		m = nil // it is the first column; Paimon has an error for that, MySQL has not
	}
	if m != nil {
		if !top {
			return errs.Unsupportedf("FIRST and AFTER are for columns; the fields of a ROW stay where they are")
		}
		l.add(schema.ChangePosition{Move: *m})
	}
	if top {
		next := d.Field
		next.Name = f.Name
		if isKey {
			next.Type = next.Type.WithNotNull(true)
		}
		i, _ := fieldAt(l.fields, f.Name)
		l.fields[i] = next
		if m != nil {
			l.place(m)
		}
	}
	if d.Field.Name != a.Path[len(a.Path)-1] {
		if err := l.change(schema.RenameColumn{Path: path, To: d.Field.Name}); err != nil {
			return err
		}
	}
	if d.PrimaryKey && !(len(l.keys) == 1 && isKey) {
		return l.addPrimaryKey([]string{d.Field.Name})
	}
	return nil
}

func sameText(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// typeChanges makes a type of another one, without its own NOT NULL. The fields of a ROW are matched by name.
func typeChanges(path []string, old, want *schema.Type) ([]schema.Change, error) {
	if old.Kindless() == want.Kindless() {
		return nil, nil
	}
	at := func(name string) []string { return append(slices.Clone(path), name) }
	inner := func(name string, old, want *schema.Type) ([]schema.Change, error) {
		out, err := typeChanges(at(name), old, want)
		if err == nil && old.NotNull != want.NotNull {
			out = append(out, schema.ChangeNullability{Path: at(name), Nullable: !want.NotNull})
		}
		return out, err
	}
	switch {
	case old.Root != want.Root:
	case old.Root == schema.Row:
		return rowChanges(path, old, want, inner)
	case old.Root == schema.Array:
		return inner("element", old.Elem, want.Elem)
	case old.Root == schema.Map:
		if old.Key.Kindless() != want.Key.Kindless() {
			return nil, errs.Invalidf("Cannot update key type of column %s from %s type to %s type", strings.Join(path, "."), old.Key, want.Key)
		}
		return inner("value", old.Elem, want.Elem)
	}
	return []schema.Change{schema.ChangeType{Path: path, Type: want, KeepNullability: true}}, nil
}

// rowChanges makes the fields of a ROW those of another one.
func rowChanges(path []string, old, want *schema.Type, inner func(string, *schema.Type, *schema.Type) ([]schema.Change, error)) (out []schema.Change, err error) {
	at := func(name string) []string { return append(slices.Clone(path), name) }
	var kept []string
	for _, f := range old.Fields {
		if slices.ContainsFunc(want.Fields, func(w schema.Field) bool { return w.Name == f.Name }) {
			kept = append(kept, f.Name)
		} else {
			out = append(out, schema.DropColumn{Path: at(f.Name)})
		}
	}
	next := 0 // the next one of those that stay
	for i, w := range want.Fields {
		k := slices.IndexFunc(old.Fields, func(f schema.Field) bool { return f.Name == w.Name })
		if k < 0 {
			add := schema.AddColumn{Path: at(w.Name), Type: w.Type, Comment: w.Description}
			if next < len(kept) {
				add.Move = &schema.Move{Column: w.Name}
				if i > 0 {
					add.Move.After = want.Fields[i-1].Name
				}
			}
			out = append(out, add)
			continue
		}
		if kept[next] != w.Name {
			return nil, errs.Invalidf("Order of existing fields in column %s must be kept the same. However, field %s and %s have changed their orders.", strings.Join(path, "."), kept[next], w.Name)
		}
		next++
		f := old.Fields[k]
		changes, err := inner(w.Name, f.Type, w.Type)
		if err != nil {
			return nil, err
		}
		out = append(out, changes...)
		if f.Description != w.Description {
			out = append(out, schema.ChangeComment{Path: at(w.Name), Comment: w.Description})
		}
	}
	return out, nil
}

// change lowers a change of one thing: it names the column as the table does.
func (l *lowering) change(c schema.Change) error {
	var missing []string
	find := func(path []string) (out []string, f *schema.Field) {
		out, f, ok := l.resolve(path)
		if !ok {
			missing = path
			return path, &schema.Field{Type: &schema.Type{}}
		}
		return out, f
	}
	switch c := c.(type) {
	case schema.RenameColumn:
		path, f := find(c.Path)
		if missing != nil {
			break
		}
		if _, other, there := l.resolve(append(slices.Clone(path[:len(path)-1]), c.To)); there && other.Name != f.Name {
			return duplicateColumn(c.To)
		}
		if c.To == f.Name {
			return nil
		}
		l.add(schema.RenameColumn{Path: path, To: c.To})
		if len(path) == 1 {
			if k := slices.Index(l.keys, f.Name); k >= 0 {
				l.keys[k] = c.To
			}
			i, _ := fieldAt(l.fields, f.Name)
			l.fields[i].Name = c.To
		}
	case schema.ChangeType:
		path, f := find(c.Path)
		if missing != nil {
			break
		}
		changes, err := typeChanges(path, f.Type, c.Type)
		if err != nil {
			return err
		}
		l.add(changes...)
		if len(path) == 1 {
			i, _ := fieldAt(l.fields, f.Name)
			l.fields[i].Type = c.Type.WithNotNull(f.Type.NotNull)
		}
	case schema.ChangeNullability:
		c.Path, _ = find(c.Path)
		l.add(c)
	case schema.ChangeComment:
		c.Path, _ = find(c.Path)
		l.add(c)
	case schema.ChangeDefault:
		c.Path, _ = find(c.Path)
		l.add(c)
	case schema.ChangePosition:
		path, f := find([]string{c.Move.Column})
		if missing != nil {
			break
		}
		m, err := l.move(&c.Move, f.Name)
		if err != nil {
			return err
		}
		m.Column = path[0]
		l.add(schema.ChangePosition{Move: *m})
		l.place(m)
	case schema.DropPrimaryKey:
		if len(l.keys) == 0 {
			return cannotDrop(primaryName)
		}
		l.keys = nil
		l.add(c)
	default:
		l.add(c)
	}
	if missing != nil {
		return l.unknown(missing)
	}
	return nil
}

// addPrimaryKey is ADD PRIMARY KEY, which Paimon does by an option, while the table is empty.
func (l *lowering) addPrimaryKey(columns []string) error {
	if len(l.keys) > 0 {
		return errmap.New(1068, "42000", "Multiple primary key defined")
	}
	names, ok := namedColumns(l.fields, columns)
	if !ok {
		for _, c := range columns {
			if _, ok := fieldAt(l.fields, c); !ok {
				return errmap.New(1072, "42000", "Key column '%s' doesn't exist in table", c)
			}
		}
	}
	l.keys = names
	l.add(schema.SetOption{Key: "primary-key", Value: strings.Join(names, ",")})
	return nil
}
