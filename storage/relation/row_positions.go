package relation

import "github.com/tributarydb/tributary/storage/schema"

// Names of the columns that say where a row of an append table lies. They stand behind the table's columns in relations and
// sinks that are opened with positions.
const (
	// FileColumn is the ordinal of the row's data file among the files of the relation, INT. It means the same in
	// all plans of one relation, and nothing in another one.
	FileColumn = "_ROW_FILE"
	// PositionColumn is the number of the row within that file, from 0, BIGINT.
	PositionColumn = "_ROW_POSITION"
)

// Ids of these columns: no table's columns have such ones.
const (
	fileColumnID     = -2
	positionColumnID = -3
)

// PositionFields are FileColumn and PositionColumn. Those that are written are null in new rows.
func PositionFields(nullable bool) []schema.Field {
	return []schema.Field{
		{ID: fileColumnID, Name: FileColumn, Type: &schema.Type{Root: schema.Int, NotNull: !nullable}},
		{ID: positionColumnID, Name: PositionColumn, Type: &schema.Type{Root: schema.BigInt, NotNull: !nullable}},
	}
}
