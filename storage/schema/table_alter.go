package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
)

// Apply returns the schema that changes make of s, with the next id
// (SchemaManager.commitChanges). Errors are errs.Invalid, errs.NotFound or errs.Exists with Paimon's words.
func (s *TableSchema) Apply(changes []Change, ctx Context) (*TableSchema, error) {
	c := *s
	c.Version, c.ID, c.TimeMillis = CurrentVersion, s.ID+1, ctx.now()
	c.Fields, c.Options, c.OptionKeys = slices.Clone(s.Fields), maps.Clone(s.Options), slices.Clone(s.OptionKeys)
	if c.Options == nil {
		c.Options = map[string]string{}
	}
	c.PartitionKeys, c.PrimaryKeys = slices.Clone(s.PartitionKeys), slices.Clone(s.PrimaryKeys)
	c.HasComment = true
	c.HighestFieldID = max(s.HighestFieldID, HighestID(s.Fields))
	for _, ch := range changes {
		if err := c.apply(ch, s, ctx); err != nil {
			return nil, err
		}
	}
	if err := c.keysNotNull(); err != nil {
		return nil, err
	}
	return &c, c.Validate(ctx)
}

func (c *TableSchema) apply(ch Change, old *TableSchema, ctx Context) error {
	switch ch := ch.(type) {
	case SetOption:
		return c.setOption(ch.Key, ch.Value, old, ctx)
	case ResetOption:
		return c.resetOption(ch.Key, ctx)
	case SetComment:
		c.Comment = ""
		if ch.Comment != nil {
			c.Comment = *ch.Comment
		}
		return nil
	case AddColumn:
		return c.addColumn(ch)
	case RenameColumn:
		return c.renameColumn(ch)
	case DropColumn:
		return c.dropColumn(ch)
	case ChangeType:
		return c.changeType(ch)
	case ChangeNullability:
		return c.changeNullability(ch)
	case ChangeComment:
		return c.edit(ch.Path, func(f *Field) error { f.Description = ch.Comment; return nil })
	case ChangeDefault:
		return c.edit(ch.Path, func(f *Field) error {
			if ch.Default != nil && ctx.Castable != nil {
				if err := ctx.Castable(f.Type, *ch.Default); err != nil {
					return errs.Invalidf("Unsupported default value `%s` for type %s: %w", *ch.Default, f.Type, err)
				}
			}
			f.Default = ch.Default
			return nil
		})
	case ChangePosition:
		return c.move(ch.Move)
	case DropPrimaryKey:
		if ctx.HasSnapshot {
			return errs.Invalidf("Cannot drop primary keys on a non-empty table.")
		}
		c.PrimaryKeys = nil
		return nil
	}
	return errs.Unsupportedf("the schema change %T is not known", ch)
}

// immutable are the options that cannot change once there is data (section 8 of the SQL surface).
var immutable = map[string]bool{
	"bucket-key": true, "bucket-function.type": true, "data-file.path-directory": true, "merge-engine": true, "sequence.snapshot-ordering": true,
	"aggregation.remove-record-on-delete": true, "partial-update.remove-record-on-delete": true, "partial-update.remove-record-on-sequence-group": true,
	"rowkind.field": true, optPrimaryKey: true, "primary-key.nullable": true, optPartition: true, "dynamic-bucket.initial-buckets": true, "force-lookup": true,
	"row-tracking.enabled": true, "data-evolution.enabled": true, "index-file-in-data-file-dir": true, "blob-field": true, "blob-descriptor-field": true,
	"blob-view-field": true, "pk-clustering-override": true,
}

func (c *TableSchema) setOption(key, value string, old *TableSchema, ctx Context) error {
	was, had := c.Options[key]
	switch key {
	case optComment:
		c.Comment = value
		return nil
	case optPath:
		return errs.Invalidf("Change 'path' is not supported yet.")
	case "type":
		if !had {
			was = OptTableType.Default()
		}
		if was != value {
			return errs.Invalidf("Change 'type' is not supported yet.")
		}
	case optPrimaryKey:
		keys := commaList(value)
		if slices.Equal(keys, c.PrimaryKeys) {
			return nil
		}
		if ctx.HasSnapshot || len(c.PrimaryKeys) > 0 {
			return errs.Invalidf("Change 'primary-key' is not supported yet.")
		}
		c.PrimaryKeys = keys
		return nil
	case optPartition:
		keys := commaList(value)
		if slices.Equal(keys, c.PartitionKeys) {
			return nil
		}
		if ctx.HasSnapshot {
			return errs.Invalidf("Change 'partition' is not supported yet.")
		}
		c.PartitionKeys = keys
		return nil
	case "bucket":
		if ctx.HasSnapshot {
			from, err := OptBucket.Get(c.Options)
			if err != nil {
				return err
			}
			to, err := OptBucket.Get(map[string]string{key: value})
			if err != nil {
				return err
			}
			switch {
			case from == to:
			case from == -1:
				return errs.Invalidf("Cannot change bucket when it is -1.")
			case to == -1:
				return errs.Invalidf("Cannot change bucket to -1.")
			}
		}
	case "deletion-vectors.enabled":
		from := had && strings.EqualFold(was, "true")
		to := strings.EqualFold(value, "true")
		if from != to && ctx.HasSnapshot && !strings.EqualFold(c.Options["deletion-vectors.modifiable"], "true") {
			return errs.Invalidf("Cannot change deletion vectors mode from %t to %t. If modifying table deletion-vectors mode without full-compaction, this may result in data duplication. If you are confident, you can set table option 'deletion-vectors.modifiable' = 'true' to allow deletion vectors modification.", from, to)
		}
	case "ignore-delete", "ignore-update-before":
		if had && strings.EqualFold(was, "true") && strings.EqualFold(value, "false") {
			return errs.Invalidf("Cannot change %s from true to false.", key)
		}
	}
	if immutable[key] && ctx.HasSnapshot && !c.sameOption(key, was, had, value) {
		return errs.Invalidf("Change '%s' is not supported yet.", key)
	}
	if !had {
		c.OptionKeys = append(c.OptionKeys, key)
	}
	c.Options[key] = value
	return nil
}

// sameOption reports whether a new value is the one in force, by default where none was set.
func (c *TableSchema) sameOption(key, was string, had bool, value string) bool {
	if had {
		return was == value
	}
	for _, o := range KnownOptions() {
		if o.Key == key {
			return o.Default == value
		}
	}
	return false
}

func (c *TableSchema) resetOption(key string, ctx Context) error {
	switch key {
	case optComment:
		c.Comment = ""
		return nil
	case "bucket":
		return errs.Invalidf("Cannot reset bucket.")
	}
	was, had := c.Options[key]
	if immutable[key] && ctx.HasSnapshot && (had || key == optPrimaryKey && len(c.PrimaryKeys) > 0 || key == optPartition && len(c.PartitionKeys) > 0) {
		return errs.Invalidf("Change '%s' is not supported yet.", key)
	}
	if key == "deletion-vectors.enabled" && strings.EqualFold(was, "true") && ctx.HasSnapshot && !strings.EqualFold(c.Options["deletion-vectors.modifiable"], "true") {
		return errs.Invalidf("Cannot change deletion vectors mode from true to false. If you are confident, you can set table option 'deletion-vectors.modifiable' = 'true' to allow deletion vectors modification.")
	}
	if key == optPrimaryKey {
		c.PrimaryKeys = nil
		return nil
	}
	delete(c.Options, key)
	c.OptionKeys = slices.DeleteFunc(c.OptionKeys, func(k string) bool { return k == key })
	return nil
}

// missing is the error of a column that is not there.
func missing(path []string) error {
	return errs.NotFoundf("Column %s does not exist in the table.", strings.Join(path, "."))
}

func duplicate(path []string) error {
	return errs.Existsf("Column %s already exists in the table.", strings.Join(path, "."))
}

// withFields applies f to the list of fields that holds the last name of a path.
func (c *TableSchema) withFields(path []string, f func(fields []Field) ([]Field, error)) error {
	var walk func(fields []Field, at int) ([]Field, error)
	var inType func(t *Type, at int) (*Type, error)
	inType = func(t *Type, at int) (*Type, error) {
		n := *t
		var err error
		switch t.Root {
		case Row:
			n.Fields, err = walk(slices.Clone(t.Fields), at)
		case Array, Multiset:
			if path[at] != "element" || at+1 >= len(path) {
				return nil, missing(path)
			}
			n.Elem, err = inType(t.Elem, at+1)
		case Map:
			if path[at] != "value" || at+1 >= len(path) {
				return nil, missing(path)
			}
			n.Elem, err = inType(t.Elem, at+1)
		default:
			return nil, missing(path)
		}
		return &n, err
	}
	walk = func(fields []Field, at int) ([]Field, error) {
		if at == len(path)-1 {
			return f(fields)
		}
		i := IndexOf(fields, path[at])
		if i < 0 {
			return nil, missing(path)
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
	fields, err := walk(c.Fields, 0)
	if err == nil {
		c.Fields = fields
	}
	return err
}

// edit changes one field. The last name may be "element" or "value" of a collection as well.
func (c *TableSchema) edit(path []string, f func(*Field) error) error {
	last := path[len(path)-1]
	if len(path) > 1 && (last == "element" || last == "value") {
		return c.withFields(path[:len(path)-1], func(fields []Field) ([]Field, error) {
			i := IndexOf(fields, path[len(path)-2])
			if i < 0 {
				return nil, missing(path)
			}
			t := fields[i].Type
			if t.Elem == nil || t.Root == Row {
				return nil, missing(path)
			}
			part := Field{Name: last, Type: t.Elem}
			if err := f(&part); err != nil {
				return nil, err
			}
			n := *t
			n.Elem = part.Type
			fields[i].Type = &n
			return fields, nil
		})
	}
	return c.withFields(path, func(fields []Field) ([]Field, error) {
		i := IndexOf(fields, last)
		if i < 0 {
			return nil, missing(path)
		}
		return fields, f(&fields[i])
	})
}

func (c *TableSchema) addColumn(ch AddColumn) error {
	if ch.Type.NotNull {
		return errs.Invalidf("Column %s cannot specify NOT NULL in the table: rows that exist have no value for it", strings.Join(ch.Path, "."))
	}
	next := c.HighestFieldID + 1
	id := next
	next++
	t := renumber(ch.Type, &next)
	name := ch.Path[len(ch.Path)-1]
	err := c.withFields(ch.Path, func(fields []Field) ([]Field, error) {
		if IndexOf(fields, name) >= 0 {
			return nil, duplicate(ch.Path)
		}
		return append(fields, Field{ID: id, Name: name, Type: t, Description: ch.Comment, Default: ch.Default}), nil
	})
	if err != nil {
		return err
	}
	c.HighestFieldID = next - 1
	switch {
	case len(ch.Path) > 1:
	case ch.Move != nil:
		m := *ch.Move
		m.Column = name
		return c.move(m)
	case len(c.PartitionKeys) > 0 && strings.EqualFold(c.Options["add-column-before-partition"], "true"):
		at := slices.IndexFunc(c.Fields, func(f Field) bool { return slices.Contains(c.PartitionKeys, f.Name) })
		f := c.Fields[len(c.Fields)-1]
		c.Fields = slices.Insert(c.Fields[:len(c.Fields)-1], at, f)
	}
	return nil
}

func (c *TableSchema) move(m Move) error {
	from := c.Index(m.Column)
	if from < 0 {
		return missing([]string{m.Column})
	}
	if m.After == m.Column && !m.Last {
		return errs.Invalidf("Cannot move itself for column %s", m.Column)
	}
	f := c.Fields[from]
	rest := slices.Delete(slices.Clone(c.Fields), from, from+1)
	at := 0
	switch {
	case m.Last:
		at = len(rest)
	case m.After != "":
		i := IndexOf(rest, m.After)
		if i < 0 {
			return missing([]string{m.After})
		}
		at = i + 1
	}
	c.Fields = slices.Insert(rest, at, f)
	return nil
}

func (c *TableSchema) renameColumn(ch RenameColumn) error {
	name := ch.Path[len(ch.Path)-1]
	top := len(ch.Path) == 1
	if top && slices.Contains(c.PartitionKeys, name) {
		return errs.Invalidf("Cannot rename partition column: [%s]", name)
	}
	err := c.withFields(ch.Path, func(fields []Field) ([]Field, error) {
		i := IndexOf(fields, name)
		if i < 0 {
			return nil, missing(ch.Path)
		}
		if j := IndexOf(fields, ch.To); j >= 0 && j != i {
			return nil, duplicate(append(slices.Clone(ch.Path[:len(ch.Path)-1]), ch.To))
		}
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

// renameInOptions lets options that name a column follow its new name;
// file-index.….columns does not, as in Paimon, so that Validate refuses.
func (c *TableSchema) renameInOptions(from, to string) {
	follow := func(list string) string {
		items := strings.Split(list, ",")
		for i, x := range items {
			if strings.TrimSpace(x) == from {
				items[i] = to
			}
		}
		return strings.Join(items, ",")
	}
	for i, k := range slices.Clone(c.OptionKeys) {
		v := c.Options[k]
		nk, nv := k, v
		switch {
		case k == "bucket-key" || k == "sequence.field":
			nv = follow(v)
		case strings.HasPrefix(k, "fields."):
			rest := k[len("fields."):]
			names, suffix := rest, ""
			if j := strings.LastIndexByte(rest, '.'); j >= 0 {
				names, suffix = rest[:j], rest[j:]
			}
			nk = "fields." + follow(names) + suffix
			if suffix == ".sequence-group" || suffix == ".nested-key" {
				nv = follow(v)
			}
		}
		if nk != k || nv != v {
			delete(c.Options, k)
			c.Options[nk] = nv
			c.OptionKeys[i] = nk
		}
	}
}

func (c *TableSchema) dropColumn(ch DropColumn) error {
	name := ch.Path[len(ch.Path)-1]
	top := len(ch.Path) == 1
	if top && (slices.Contains(c.PartitionKeys, name) || slices.Contains(c.PrimaryKeys, name)) {
		return errs.Invalidf("Cannot drop partition key or primary key: [%s]", name)
	}
	return c.withFields(ch.Path, func(fields []Field) ([]Field, error) {
		i := IndexOf(fields, name)
		if i < 0 {
			return nil, missing(ch.Path)
		}
		if len(fields) == 1 {
			return nil, errs.Invalidf("Cannot drop all fields in table")
		}
		return slices.Delete(slices.Clone(fields), i, i+1), nil
	})
}

func (c *TableSchema) changeType(ch ChangeType) error {
	name := ch.Path[len(ch.Path)-1]
	return c.edit(ch.Path, func(f *Field) error {
		t := ch.Type
		if ch.KeepNullability {
			t = t.WithNotNull(f.Type.NotNull)
		}
		if len(ch.Path) == 1 && !f.Type.EqualIgnoreNull(t) {
			if slices.Contains(c.PartitionKeys, name) {
				return errs.Invalidf("Cannot update partition column: [%s]", name)
			}
			if slices.Contains(c.PrimaryKeys, name) {
				return errs.Invalidf("Cannot update primary key")
			}
		}
		if f.Type.NotNull != t.NotNull {
			if err := c.checkNullability(ch.Path, f.Type, !t.NotNull); err != nil {
				return err
			}
		}
		n, err := c.newType(strings.Join(ch.Path, "."), f.Type, t)
		if err != nil {
			return err
		}
		f.Type = n
		return nil
	})
}

// newType returns what a column of type from becomes as type to: nested types are changed part by part, their field ids stay.
func (c *TableSchema) newType(name string, from, to *Type) (*Type, error) {
	if from.EqualIgnoreNull(to) && from.Root != Row {
		n := *from
		n.NotNull = to.NotNull
		return &n, nil
	}
	n := *to
	var err error
	switch {
	case from.Root != to.Root && (from.Root == Array || from.Root == Map || from.Root == Row || from.Root == Multiset):
		return nil, errs.Invalidf("Column %s can only be updated to %s type, and cannot be updated to %s type", name, strings.ToLower(from.Root.String()), to)
	case from.Root == to.Root && (from.Root == Array || from.Root == Multiset):
		n.Elem, err = c.newType(name+".element", from.Elem, to.Elem)
		return &n, err
	case from.Root == Map && to.Root == Map:
		if !from.Key.EqualIgnoreNull(to.Key) {
			return nil, errs.Invalidf("Cannot update key type of column %s type from %s to %s", name, from.Key, to.Key)
		}
		n.Key = from.Key
		n.Elem, err = c.newType(name+".value", from.Elem, to.Elem)
		return &n, err
	case from.Root == Row && to.Root == Row:
		n.Fields = nil
		for _, f := range to.Fields {
			i := IndexOf(from.Fields, f.Name)
			if i < 0 {
				c.HighestFieldID++
				f.ID = c.HighestFieldID
				next := c.HighestFieldID + 1
				f.Type = renumber(f.Type, &next)
				c.HighestFieldID = next - 1
			} else {
				f.ID = from.Fields[i].ID
				if f.Type, err = c.newType(name+"."+f.Name, from.Fields[i].Type, f.Type); err != nil {
					return nil, err
				}
			}
			n.Fields = append(n.Fields, f)
		}
		return &n, nil
	}
	if !convertible(from, to, strings.EqualFold(c.Options["disable-explicit-type-casting"], "true")) {
		return nil, errs.Invalidf("Column type %s[%s] cannot be converted to %s without losing information.", name, from.Kindless(), to.Kindless())
	}
	return &n, nil
}

func (c *TableSchema) checkNullability(path []string, t *Type, nullable bool) error {
	name := strings.Join(path, ".")
	if nullable && len(path) == 1 && slices.Contains(c.PrimaryKeys, name) {
		return errs.Invalidf("Cannot change nullability of primary key")
	}
	blocked := true
	if v, ok := c.Options["alter-column-null-to-not-null.disabled"]; ok {
		blocked = !strings.EqualFold(v, "false")
	}
	if !nullable && !t.NotNull && blocked {
		return errs.Invalidf("Cannot update column type from nullable to non nullable for %s. You can set table configuration option 'alter-column-null-to-not-null.disabled' = 'false' to allow converting null columns to not null", name)
	}
	return nil
}

func (c *TableSchema) changeNullability(ch ChangeNullability) error {
	return c.edit(ch.Path, func(f *Field) error {
		if f.Type.NotNull == !ch.Nullable {
			return nil
		}
		if err := c.checkNullability(ch.Path, f.Type, ch.Nullable); err != nil {
			return err
		}
		f.Type = f.Type.WithNotNull(!ch.Nullable)
		return nil
	})
}

// families of types in the table of allowed type changes (section 4.3 of the SQL surface).
func isText(r Root) bool      { return r == Char || r == Varchar }
func isInteger(r Root) bool   { return r >= TinyInt && r <= BigInt }
func isNumber(r Root) bool    { return isInteger(r) || r == Float || r == Double || r == Decimal }
func isTimestamp(r Root) bool { return r == Timestamp || r == TimestampLTZ }

// convertible reports whether a column may change its type (DataTypeCasts).
func convertible(from, to *Type, implicitOnly bool) bool {
	f, t := from.Root, to.Root
	var implicit, explicit bool
	switch {
	case t == Char:
		implicit, explicit = f == Char, f < Blob
	case t == Varchar:
		implicit, explicit = isText(f), f < Blob
	case t == Boolean:
		implicit, explicit = f == Boolean, isText(f) || isInteger(f)
	case t == Binary:
		implicit, explicit = f == Binary, f == Varbinary || isText(f)
	case t == Varbinary:
		implicit, explicit = f == Binary || f == Varbinary, isText(f)
	case isInteger(t):
		implicit, explicit = isInteger(f) && f <= t, isNumber(f) || isText(f) || f == Boolean || isTimestamp(f)
	case t == Float:
		implicit, explicit = isInteger(f) || f == Decimal || f == Float, isNumber(f) || isText(f) || f == Boolean || isTimestamp(f)
	case t == Double || t == Decimal:
		implicit, explicit = isNumber(f), isText(f) || f == Boolean || isTimestamp(f)
	case t == Date:
		implicit, explicit = f == Date || f == Timestamp, f == TimestampLTZ || isText(f)
	case t == Time:
		implicit, explicit = f == Time || f == Timestamp, f == TimestampLTZ || isText(f)
	case isTimestamp(t):
		implicit, explicit = isTimestamp(f), f == Date || f == Time || isText(f) || isNumber(f)
	default:
		return from.EqualIgnoreNull(to)
	}
	return implicit || explicit && !implicitOnly
}
