package dialect

import (
	"fmt"
	"strings"

	"github.com/tributarydb/tributary/storage/schema"
)

// alterParser reads the actions of ALTER TABLE.
type alterParser struct {
	*cursor
	st *AlterTable
}

// alterTable parses behind ALTER TABLE.
func (c *cursor) alterTable() Statement {
	st := AlterTable{IfExists: c.accept("IF", "EXISTS")}
	st.Table = c.name()
	a := &alterParser{cursor: c, st: &st}
	if c.err == nil && c.i >= len(c.s.toks) {
		return st // as in MySQL, nothing to do
	}
	for c.err == nil {
		a.action()
		if c.err != nil || !c.accept(",") && !c.moreOptions() {
			break
		}
	}
	st.Ignored = c.ignored
	return st
}

// moreOptions reports whether another table option follows without a comma.
func (c *cursor) moreOptions() bool {
	return c.err == nil && c.s.kind(c.i) == KindWord && (tableOptions[c.s.upper[c.i]] || c.s.is(c.i, "COMMENT", "DEFAULT", "CHARSET", "CHARACTER", "COLLATE"))
}

func (a *alterParser) add(actions ...Action) { a.st.Actions = append(a.st.Actions, actions...) }

func (a *alterParser) change(c schema.Change) { a.add(Change{c}) }

// refusedActions are actions of MySQL's, Flink's and Spark's ALTER TABLE that mean nothing for a Paimon table.
var refusedActions = [...][]string{
	{"DISCARD"}, {"IMPORT"}, {"COALESCE"}, {"REORGANIZE"}, {"EXCHANGE"}, {"REBUILD"}, {"REMOVE"}, {"CHECK", "PARTITION"}, {"OPTIMIZE"}, {"REPAIR"},
	{"ANALYZE"}, {"PARTITION"}, {"TRUNCATE", "PARTITION"}, {"RECOVER"}, {"SECONDARY_LOAD"}, {"SECONDARY_UNLOAD"}, {"UNION"}, {"CLUSTER"},
	{"SET", "LOCATION"}, {"SET", "SERDE"}, {"SET", "SERDEPROPERTIES"}, {"ADD", "WATERMARK"}, {"MODIFY", "WATERMARK"}, {"DROP", "WATERMARK"},
	{"ADD", "DISTRIBUTION"}, {"MODIFY", "DISTRIBUTION"}, {"DROP", "DISTRIBUTION"},
}

func (a *alterParser) action() {
	for _, words := range refusedActions {
		if a.s.seq(a.i, words...) && !a.s.is(a.i+len(words), "=", ".", "(") || a.s.seq(a.i, words...) && words[0] == "PARTITION" {
			a.err = unsupported("ALTER TABLE … "+strings.Join(words, " "), "")
			return
		}
	}
	if a.engineOption() {
		return
	}
	switch {
	case a.accept("COMMENT"):
		a.accept("=")
		text := a.str()
		a.change(schema.SetComment{Comment: &text})
	case a.accept("ADD"):
		a.addClause()
	case a.accept("MODIFY"):
		a.modify()
	case a.accept("CHANGE"):
		a.accept("COLUMN")
		old := a.path()
		a.changeColumn(old)
	case a.accept("ALTER"):
		a.alterClause()
	case a.accept("DROP"):
		a.dropClause()
	case a.accept("RENAME"):
		a.rename()
	case a.accept("SET"), a.accept("RESET"), a.accept("UNSET"):
		a.setOptions(a.s.upper[a.i-1])
	case a.s.is(a.i, "CREATE", "REPLACE", "DELETE"):
		a.tag()
	case a.accept("CONVERT", "TO"):
		if !a.charset() {
			a.fail()
		}
		a.charset()
	case a.accept("DISABLE", "KEYS"), a.accept("ENABLE", "KEYS"):
		a.st.Keys = true
	case a.accept("ORDER", "BY"):
		a.path()
		a.oneOf("ASC", "DESC")
	case a.s.is(a.i, "ALGORITHM", "LOCK"):
		a.i++
		a.accept("=")
		a.ident()
	case a.accept("FORCE"), a.accept("WITH", "VALIDATION"), a.accept("WITHOUT", "VALIDATION"):
	case a.s.seq(a.i, "WITH", "("):
		a.setOptions("WITH")
	default:
		a.fail()
	}
}

// addClause reads behind ADD.
func (a *alterParser) addClause() {
	if a.s.seq(a.i, "IF", "NOT", "EXISTS") && a.s.is(a.i+3, "PARTITION") || a.s.seq(a.i, "PARTITION", "(") {
		a.addPartitions()
		return
	}
	if kind, columns, ok := a.tableKey(); ok {
		if kind == keyPrimary {
			a.add(AddPrimaryKey{Columns: columns})
		}
		return
	}
	if !a.accept("COLUMNS") {
		a.accept("COLUMN")
	}
	ifNotExists := a.accept("IF", "NOT", "EXISTS")
	one := func() { a.add(AddColumns{Column: a.columnDefinition(), IfNotExists: ifNotExists}) }
	if !a.accept("(") {
		one()
		return
	}
	for a.err == nil {
		if kind, columns, ok := a.tableKey(); !ok {
			one()
		} else if kind == keyPrimary {
			a.add(AddPrimaryKey{Columns: columns})
		}
		if !a.accept(",") {
			break
		}
	}
	a.expect(")")
}

// partitions reads PARTITION (…) [,] PARTITION (…) ….
func (a *alterParser) partitions() (specs []map[string]*string) {
	a.expect("PARTITION")
	if a.err == nil && (!a.s.is(a.i, "(") || a.s.is(a.i+1, "PARTITION")) {
		a.err = unsupported("ALTER TABLE with the name of a partition", "write PARTITION (column = value, …)")
		return nil
	}
	for a.err == nil {
		specs = append(specs, a.partitionMap())
		if a.s.seq(a.i, ",", "PARTITION") {
			a.i++
		}
		if !a.accept("PARTITION") {
			break
		}
	}
	return specs
}

func (a *alterParser) addPartitions() {
	ifNot := a.accept("IF", "NOT", "EXISTS")
	specs := a.partitions()
	if a.err == nil && a.s.is(a.i, "LOCATION") {
		a.err = unsupported("ADD PARTITION … LOCATION", "")
		return
	}
	a.add(AddPartitions{Specs: specs, IfNotExists: ifNot})
}

// modify reads behind MODIFY: one column, or Flink's list in parentheses.
func (a *alterParser) modify() {
	a.accept("COLUMN")
	one := func() {
		d := a.columnDefinition()
		a.add(ModifyColumn{Path: d.Path, Column: d})
	}
	if !a.accept("(") {
		one()
		return
	}
	for a.err == nil {
		one()
		if !a.accept(",") {
			break
		}
	}
	a.expect(")")
}

// changeColumn reads behind CHANGE a.
func (a *alterParser) changeColumn(old []string) {
	d := a.columnDefinition()
	if a.err == nil && len(d.Path) > 1 && (len(d.Path) != len(old) || strings.Join(d.Path[:len(d.Path)-1], "\x00") != strings.Join(old[:len(old)-1], "\x00")) {
		a.err = unsupported("A CHANGE that moves a nested field", "")
		return
	}
	a.add(ModifyColumn{Path: old, Column: d})
}

// alterClause reads behind ALTER.
func (a *alterParser) alterClause() {
	switch {
	case a.s.is(a.i, "INDEX") && !a.s.is(a.i+1, "SET", "DROP", "TYPE", "."):
		a.i++
		a.ident()
		if a.oneOf("VISIBLE", "INVISIBLE") == "" {
			a.fail()
		}
		return
	case a.s.is(a.i, "CHECK", "CONSTRAINT") && !a.s.is(a.i+1, "SET", "DROP", "TYPE", "."):
		a.i++
		a.ident()
		a.enforced()
		return
	}
	a.accept("COLUMN")
	path := a.path()
	switch {
	case a.accept("SET", "DEFAULT"):
		text, constant := a.defaultValue()
		if a.err == nil && !constant {
			a.err = unsupported("A DEFAULT that is no constant", "Paimon keeps constants only")
			return
		}
		a.change(schema.ChangeDefault{Path: path, Default: text})
	case a.accept("DROP", "DEFAULT"):
		a.change(schema.ChangeDefault{Path: path})
	case a.accept("SET", "NOT", "NULL"):
		a.change(schema.ChangeNullability{Path: path})
	case a.accept("DROP", "NOT", "NULL"):
		a.change(schema.ChangeNullability{Path: path, Nullable: true})
	case a.accept("SET", "VISIBLE"), a.accept("SET", "INVISIBLE"):
	case a.accept("TYPE"), a.accept("SET", "DATA", "TYPE"):
		a.change(schema.ChangeType{Path: path, Type: a.columnType(), KeepNullability: true})
	case a.accept("COMMENT"):
		a.change(schema.ChangeComment{Path: path, Comment: a.str()})
	case a.accept("FIRST"):
		a.change(schema.ChangePosition{Move: schema.Move{Column: strings.Join(path, ".")}})
	case a.accept("AFTER"):
		a.change(schema.ChangePosition{Move: schema.Move{Column: strings.Join(path, "."), After: a.ident()}})
	default:
		a.fail()
	}
}

// dropClause reads behind DROP.
func (a *alterParser) dropClause() {
	ignore := func(what string) {
		a.ignored = append(a.ignored, what+" "+quoteName(a.ident()))
	}
	switch {
	case a.s.seq(a.i, "IF", "EXISTS", "PARTITION"), a.s.is(a.i, "PARTITION") && a.s.is(a.i+1, "(") || a.s.is(a.i, "PARTITION") && a.s.name(a.i+1):
		st := DropPartitions{IfExists: a.accept("IF", "EXISTS")}
		st.Specs = a.partitions()
		a.accept("PURGE")
		a.add(st)
		return
	case a.accept("PRIMARY", "KEY"):
		a.change(schema.DropPrimaryKey{})
		return
	case a.accept("FOREIGN", "KEY"):
		a.accept("IF", "EXISTS")
		ignore("FOREIGN KEY")
		return
	case a.s.is(a.i, "INDEX", "KEY", "CHECK", "CONSTRAINT") && a.s.name(a.i+1):
		a.i++
		what := a.s.upper[a.i-1]
		a.accept("IF", "EXISTS")
		ignore(what)
		return
	}
	if !a.accept("COLUMNS") {
		a.accept("COLUMN")
	}
	ifExists := a.accept("IF", "EXISTS")
	if !a.accept("(") {
		a.add(DropColumn{Path: a.path(), IfExists: ifExists})
		return
	}
	for a.err == nil {
		a.add(DropColumn{Path: a.path(), IfExists: ifExists})
		if !a.accept(",") {
			break
		}
	}
	a.expect(")")
}

// rename reads behind RENAME: the table, a column, an index or a tag.
func (a *alterParser) rename() {
	switch {
	case a.s.is(a.i, "TAG") && !a.s.is(a.i+1, "TO"):
		a.i++
		ifExists := a.accept("IF", "EXISTS")
		from := a.tagName()
		a.expect("TO")
		a.add(TagAction{Procedure: "rename_tag", Args: textArgs(from, a.tagName()), IfExists: ifExists})
	case a.s.is(a.i, "INDEX", "KEY") && a.s.name(a.i+1) && a.s.is(a.i+2, "TO"):
		a.ignored = append(a.ignored, "INDEX "+quoteName(a.s.value(a.i+1)))
		a.i += 3
		a.ident()
	case a.accept("COLUMN"):
		path := a.path()
		a.expect("TO")
		a.change(schema.RenameColumn{Path: path, To: a.ident()})
	case a.accept("TO"), a.accept("AS"), a.accept("="):
		a.add(RenameTo{To: a.name()})
	default:
		path := a.path()
		if a.accept("TO") {
			a.change(schema.RenameColumn{Path: path, To: a.ident()})
			return
		}
		if a.err != nil || len(path) > 2 {
			a.fail()
			return
		}
		to := Name{Name: path[len(path)-1]}
		if len(path) == 2 {
			to.DB = path[0]
		}
		a.add(RenameTo{To: to})
	}
}

// commentOption is Paimon's pseudo option of the table's comment.
const commentOption = "comment"

// setOptions reads behind SET, RESET, UNSET and WITH.
func (a *alterParser) setOptions(verb string) {
	a.accept("TBLPROPERTIES")
	if verb == "UNSET" {
		a.accept("IF", "EXISTS")
	}
	if a.err == nil && !a.s.is(a.i, "(") {
		a.fail()
		return
	}
	if verb == "SET" || verb == "WITH" {
		keys, values := a.options()
		if a.err == nil && len(keys) == 0 {
			a.i--
			a.fail()
		}
		for i, k := range keys {
			if k == commentOption {
				a.change(schema.SetComment{Comment: &values[i]})
			} else {
				a.change(schema.SetOption{Key: k, Value: values[i]})
			}
		}
		return
	}
	a.expect("(")
	for a.err == nil {
		if k := a.optionKey(); k == commentOption {
			a.change(schema.SetComment{})
		} else {
			a.change(schema.ResetOption{Key: k})
		}
		if !a.accept(",") {
			break
		}
	}
	a.expect(")")
}

// textArgs makes positional arguments of texts.
func textArgs(texts ...string) []CallArg {
	out := make([]CallArg, len(texts))
	for i := range texts {
		out[i] = CallArg{Text: &texts[i], Child: -1}
	}
	return out
}

// tagName reads the name of a tag, a name or a string.
func (a *alterParser) tagName() string {
	if a.s.kind(a.i) == KindString {
		return a.str()
	}
	if a.s.kind(a.i) == KindNumber {
		a.i++
		return a.s.text(a.i - 1)
	}
	name := a.ident()
	for a.err == nil && a.s.is(a.i, "-", ".") && (a.s.name(a.i+1) || a.s.kind(a.i+1) == KindNumber) {
		name += a.s.text(a.i) + a.s.value(a.i+1)
		a.i += 2
	}
	return name
}

// tag reads CREATE [OR REPLACE] TAG, REPLACE TAG and DELETE TAG.
func (a *alterParser) tag() {
	var t TagAction
	switch {
	case a.accept("DELETE", "TAG"):
		t.Procedure = "delete_tag"
		t.IfExists = a.accept("IF", "EXISTS")
		t.Args = textArgs(a.tagName())
		a.add(t)
		return
	case a.accept("CREATE", "OR", "REPLACE", "TAG"):
		t.Procedure = TagCreateOrReplace
	case a.accept("CREATE", "TAG"):
		t.Procedure = "create_tag"
		t.IfNotExists = a.accept("IF", "NOT", "EXISTS")
	case a.accept("REPLACE", "TAG"):
		t.Procedure = "replace_tag"
	default:
		a.fail()
		return
	}
	t.Args = textArgs(a.tagName())
	for a.err == nil && a.i < len(a.s.toks) {
		switch {
		case a.accept("AS", "OF", "VERSION"):
			n := fmt.Sprint(a.number())
			t.Args = append(t.Args, CallArg{Name: "snapshot_id", Text: &n, Child: -1})
		case a.accept("RETAIN"):
			n := a.number()
			unit := a.oneOf("DAYS", "HOURS", "MINUTES", "DAY", "HOUR", "MINUTE")
			if unit == "" {
				a.fail()
				return
			}
			text := fmt.Sprintf("%d %s", n, strings.ToLower(unit[:1]))
			if unit[0] == 'M' {
				text += "in"
			}
			t.Args = append(t.Args, CallArg{Name: "time_retained", Text: &text, Child: -1})
		default:
			a.fail()
		}
	}
	a.add(t)
}

// TagCreateOrReplace is the procedure name of CREATE OR REPLACE TAG: replace_tag, and create_tag where there is no such tag.
const TagCreateOrReplace = "create_or_replace_tag"
