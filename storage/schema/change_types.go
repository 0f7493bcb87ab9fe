package schema

// Definition is what CREATE TABLE asks for (Paimon's Schema).
type Definition struct {
	// Fields are the columns; their ids are ignored and given anew.
	Fields []Field
	// PartitionKeys and PrimaryKeys name columns. They may be empty and given by the
	// options `partition` and `primary-key` instead.
	PartitionKeys, PrimaryKeys []string
	// Options are the table's options; OptionKeys are their keys in the order of the statement.
	Options    map[string]string
	OptionKeys []string
	Comment    string
	HasComment bool
}

// Change is one change of a schema (Paimon's SchemaChange): one of the types below.
// An ALTER TABLE is a list of them, applied in order and stored as one new schema version.
type Change interface{ change() }

// The changes. Path names a column, or a nested field by the names from the
// column down ("element" is an ARRAY's element, "value" a MAP's value).
type (
	// SetOption sets an option.
	SetOption struct{ Key, Value string }
	// ResetOption removes an option; a missing one is no error.
	ResetOption struct{ Key string }
	// SetComment sets the table's comment; nil removes it.
	SetComment struct{ Comment *string }
	// AddColumn adds a column or a field of a ROW.
	AddColumn struct {
		Path    []string
		Type    *Type
		Comment string
		Default *string
		// Move places a top-level column; nil = at the end.
		Move *Move
	}
	// RenameColumn renames; the other names of the path stay.
	RenameColumn struct {
		Path []string
		To   string
	}
	// DropColumn drops a column or a field of a ROW.
	DropColumn struct{ Path []string }
	// ChangeType changes the type. KeepNullability leaves NOT NULL as it is, whatever Type says.
	ChangeType struct {
		Path            []string
		Type            *Type
		KeepNullability bool
	}
	// ChangeNullability makes a column nullable or NOT NULL.
	ChangeNullability struct {
		Path     []string
		Nullable bool
	}
	// ChangeComment sets a column's comment; "" removes it.
	ChangeComment struct {
		Path    []string
		Comment string
	}
	// ChangeDefault sets a column's default text; nil removes it.
	ChangeDefault struct {
		Path    []string
		Default *string
	}
	// ChangePosition moves a top-level column.
	ChangePosition struct{ Move Move }
	// DropPrimaryKey removes the primary key of a table without data.
	DropPrimaryKey struct{}
)

// Move places a column first (After "") or behind another.
type Move struct {
	Column string
	After  string
	// Last places the column at the end; After is ignored.
	Last bool
}

func (SetOption) change()         {}
func (ResetOption) change()       {}
func (SetComment) change()        {}
func (AddColumn) change()         {}
func (RenameColumn) change()      {}
func (DropColumn) change()        {}
func (ChangeType) change()        {}
func (ChangeNullability) change() {}
func (ChangeComment) change()     {}
func (ChangeDefault) change()     {}
func (ChangePosition) change()    {}
func (DropPrimaryKey) change()    {}
