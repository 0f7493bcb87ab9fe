package schema

import (
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
)

// label names the table in messages.
func (c *alteration) label() string {
	if c.ctx.Name == "" {
		return "the table"
	}
	return "the " + c.ctx.Name + " table"
}

// missing is the error of a column that is not there.
func (c *alteration) missing(path []string) error {
	return errs.NotFoundf("Column %s does not exist in %s.", strings.Join(path, "."), c.label())
}

func (c *alteration) duplicate(path []string) error {
	return errs.Existsf("Column %s already exists in %s.", strings.Join(path, "."), c.label())
}

// withFields applies f to the list of fields that holds the last name of a path.
func (c *alteration) withFields(path []string, f func(fields []Field) ([]Field, error)) error {
	var walk func(fields []Field, at int) ([]Field, error)
	var inType func(t *Type, at int) (*Type, error)
	inType = func(t *Type, at int) (*Type, error) {
		n := *t
		var err error
		switch t.Root {
		case Row:
			n.Fields, err = walk(slices.Clone(t.Fields), at)
		case Array, Map:
			if path[at] != innerName(t) || at+1 >= len(path) {
				return nil, c.missing(path)
			}
			n.Elem, err = inType(t.Elem, at+1)
		default:
			return nil, c.missing(path)
		}
		return &n, err
	}
	walk = func(fields []Field, at int) ([]Field, error) {
		if at == len(path)-1 {
			return f(fields)
		}
		i := IndexOf(fields, path[at])
		if i < 0 {
			return nil, c.missing(path[:at+1])
		}
		t, err := inType(fields[i].Type, at+1)
		if err != nil {
			return nil, err
		}
		fields[i].Type = t
		return fields, nil
	}
	if len(path) == 0 {
		return errs.Invalidf("a column has no name")
	}
	fields, err := walk(slices.Clone(c.Fields), 0)
	if err == nil {
		c.Fields = fields
	}
	return err
}

// innerName is the name in paths of the type inside an ARRAY or MAP; "" for other types.
func innerName(t *Type) string {
	switch t.Root {
	case Array:
		return "element"
	case Map:
		return "value"
	}
	return ""
}

// edit changes one field. The last names may be "element" and "value" of collections as well: then f gets a field of the inner type.
func (c *alteration) edit(path []string, f func(*Field) error) error {
	// The part of the path that names fields: from the first one on whose rest are names of inner types.
	named := len(path)
	for named > 1 && (path[named-1] == "element" || path[named-1] == "value") && c.inner(path[:named-1], path[named-1]) {
		named--
	}
	return c.withFields(path[:named], func(fields []Field) ([]Field, error) {
		i := IndexOf(fields, path[named-1])
		if i < 0 {
			return nil, c.missing(path)
		}
		part := fields[i]
		for range path[named:] {
			part.Type = part.Type.Elem
		}
		if err := f(&part); err != nil {
			return nil, err
		}
		part.Type = withInner(fields[i].Type, len(path)-named, part.Type)
		fields[i] = part
		return fields, nil
	})
}

// withInner replaces the type that lies so many ARRAYs and MAPs deep.
func withInner(t *Type, depth int, inner *Type) *Type {
	if depth == 0 {
		return inner
	}
	n := *t
	n.Elem = withInner(t.Elem, depth-1, inner)
	return &n
}

// inner reports whether a path leads to an ARRAY or MAP whose inner type has the name.
func (c *alteration) inner(path []string, name string) bool {
	fields := c.Fields
	var t *Type
	for _, n := range path {
		if t == nil || t.Root == Row {
			if t != nil {
				fields = t.Fields
			}
			i := IndexOf(fields, n)
			if i < 0 {
				return false
			}
			t = fields[i].Type
			continue
		}
		if innerName(t) != n {
			return false
		}
		t = t.Elem
	}
	return t != nil && innerName(t) == name
}

func (c *alteration) addColumn(ch AddColumn) error {
	name := ch.Path[len(ch.Path)-1]
	if ch.Type.NotNull {
		return errs.Invalidf("Column %s cannot specify NOT NULL in %s.", strings.Join(ch.Path, "."), c.label())
	}
	field := Field{Name: ch.Path[0], Type: ch.Type, Description: ch.Comment, Default: ch.Default}
	if err := c.applyDirective(&field); err != nil {
		return err
	}
	if field.Type != ch.Type && len(ch.Path) > 1 {
		return errs.Invalidf("Comment directive cannot be used on a nested column %s.", strings.Join(ch.Path, "."))
	}
	field.Name = name
	if err := checkDefault(c.ctx, field); err != nil {
		return err
	}
	next := c.HighestFieldID + 1
	field.ID = next
	next++
	field.Type = renumber(field.Type, &next)
	err := c.withFields(ch.Path, func(fields []Field) ([]Field, error) {
		if IndexOf(fields, name) >= 0 {
			return nil, c.duplicate(ch.Path)
		}
		at := len(fields)
		switch {
		case ch.Move != nil && ch.Move.Last:
		case ch.Move != nil && ch.Move.After == "":
			at = 0
		case ch.Move != nil:
			i := IndexOf(fields, ch.Move.After)
			if i < 0 {
				return nil, c.missing([]string{ch.Move.After})
			}
			at = i + 1
		case len(ch.Path) == 1 && strings.EqualFold(c.old.Options["add-column-before-partition"], "true"):
			if i := slices.IndexFunc(fields, func(f Field) bool { return slices.Contains(c.PartitionKeys, f.Name) }); i >= 0 {
				at = i
			}
		}
		return slices.Insert(slices.Clone(fields), at, field), nil
	})
	if err == nil {
		c.HighestFieldID = next - 1
	}
	return err
}

func (c *alteration) move(m Move) error {
	from := c.Index(m.Column)
	if from < 0 {
		return errs.NotFoundf("Field name not found: %s", m.Column)
	}
	ref := 0
	switch {
	case m.Last:
		ref = len(c.Fields) - 1
	case m.After != "":
		if ref = c.Index(m.After); ref < 0 {
			return errs.NotFoundf("Reference field name not found: %s", m.After)
		}
	}
	if ref == from {
		return errs.Invalidf("Cannot move itself for column %s", m.Column)
	}
	if m.After != "" && !m.Last && from > ref {
		ref++
	}
	f := c.Fields[from]
	c.Fields = slices.Insert(slices.Delete(slices.Clone(c.Fields), from, from+1), ref, f)
	return nil
}

func (c *alteration) renameColumn(ch RenameColumn) error {
	name := ch.Path[len(ch.Path)-1]
	top := len(ch.Path) == 1
	if top && slices.Contains(c.PartitionKeys, name) {
		return errs.Invalidf("Cannot rename partition column: [%s]", name)
	}
	if top && c.old.keyIndexed(name) {
		return errs.Invalidf("Cannot rename primary-key index column: [%s]", name)
	}
	if i := c.Index(name); top && i >= 0 && IsBlobField(c.Fields[i].Type) {
		return errs.Invalidf("Cannot rename BLOB column: [%s]", name)
	}
	err := c.withFields(ch.Path, func(fields []Field) ([]Field, error) {
		i := IndexOf(fields, name)
		if i < 0 {
			return nil, c.missing(ch.Path)
		}
		if IndexOf(fields, ch.To) >= 0 {
			return nil, c.duplicate(append(slices.Clone(ch.Path[:len(ch.Path)-1]), ch.To))
		}
		fields = slices.Clone(fields)
		fields[i].Name = ch.To
		return fields, nil
	})
	if err != nil || !top {
		return err
	}
	if i := slices.Index(c.PrimaryKeys, name); i >= 0 {
		c.PrimaryKeys[i] = ch.To
	}
	c.renameInOptions(name, ch.To)
	return nil
}

// renamedOptions are the options fields.<column>.<option> that follow the name of their column.
var renamedOptions = []string{
	"aggregate-function", "ignore-retract", "distinct", "list-agg-delimiter", "map.storage-layout", "map.shared-shredding.max-columns",
	"map.shared-shredding.column-placement-policy",
}

// renameInOptions lets options that name a column follow its new name. As in Paimon others do not, so that Validate refuses where they
// would name no column (SchemaManager.applyRenameColumnsToOptions).
func (c *alteration) renameInOptions(from, to string) {
	follow := func(list string) string {
		items := strings.Split(list, ",")
		for i, x := range items {
			if x == from {
				items[i] = to
			}
		}
		return strings.Join(items, ",")
	}
	for _, k := range []string{"bucket-key", "sequence.field"} {
		if v := c.Options[k]; strings.TrimSpace(v) != "" {
			c.putOption(k, follow(v))
		}
	}
	for _, o := range renamedOptions {
		k := "fields." + from + "." + o
		if v, ok := c.Options[k]; ok {
			c.removeOption(k)
			c.putOption("fields."+to+"."+o, v)
		}
	}
	for _, k := range slices.Clone(c.OptionKeys) {
		for _, o := range []string{".sequence-group", ".nested-key"} {
			names, ok := strings.CutSuffix(strings.TrimPrefix(k, "fields."), o)
			if !ok || !strings.HasPrefix(k, "fields.") {
				continue
			}
			v := c.Options[k]
			c.removeOption(k)
			c.putOption("fields."+follow(names)+o, follow(v))
		}
	}
}

func (c *alteration) dropColumn(ch DropColumn) error {
	name := ch.Path[len(ch.Path)-1]
	if len(ch.Path) == 1 {
		if slices.Contains(c.old.PartitionKeys, name) || slices.Contains(c.old.PrimaryKeys, name) {
			return errs.Invalidf("Cannot drop partition key or primary key: [%s]", name)
		}
		if c.old.keyIndexed(name) {
			return errs.Invalidf("Cannot drop primary-key index column: [%s]", name)
		}
		if i := c.Index(name); i >= 0 {
			c.unlistColumn(c.Fields[i])
		}
	}
	return c.withFields(ch.Path, func(fields []Field) ([]Field, error) {
		i := IndexOf(fields, name)
		if i < 0 {
			return nil, c.missing(ch.Path)
		}
		if len(fields) == 1 {
			return nil, errs.Invalidf("Cannot drop all fields in table")
		}
		return slices.Delete(slices.Clone(fields), i, i+1), nil
	})
}
