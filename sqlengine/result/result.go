package result

import (
	"github.com/dolthub/go-mysql-server/sql"

	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

// Source is a plan node whose rows can be had as column batches. It is a
// sql.Node as well; its RowIter gives the same rows boxed.
type Source interface {
	sql.Node
	// ColumnTypes gives the Paimon type of each column of Schema(), which with the
	// vector's Kind says how a cell is printed. A DECIMAL type's scale is exact; its precision may exceed 38 (up to 65)
	// only where the vectors are KindInt128 and the values fit.
	ColumnTypes() []*schema.Type
	// Batches starts execution.
	Batches(ctx *sql.Context) (Iter, error)
}

// Iter yields batches, each valid until the next call; io.EOF ends it.
// Close stops all work and frees memory and files.
type Iter interface {
	Next(ctx *sql.Context) (*column.Batch, error)
	Close(ctx *sql.Context) error
}
