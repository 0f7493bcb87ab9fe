package generate

import (
	"github.com/tributarydb/tributary/storage/binrow"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/schema"
)

const (
	columnCount    = 16
	statsTextBytes = 16 // metadata.stats-mode truncate(16)
)

// tableColumns are names and Paimon types of the columns, by field id.
var tableColumns = [columnCount][2]string{
	{"l_orderkey", "BIGINT"}, {"l_partkey", "BIGINT"}, {"l_suppkey", "BIGINT"}, {"l_linenumber", "INT"},
	{"l_quantity", "DECIMAL(15, 2)"}, {"l_extendedprice", "DECIMAL(15, 2)"}, {"l_discount", "DECIMAL(15, 2)"}, {"l_tax", "DECIMAL(15, 2)"},
	{"l_returnflag", "STRING"}, {"l_linestatus", "STRING"},
	{"l_shipdate", "DATE"}, {"l_commitdate", "DATE"}, {"l_receiptdate", "DATE"},
	{"l_shipinstruct", "STRING"}, {"l_shipmode", "STRING"}, {"l_comment", "STRING"},
}

var (
	columnTypes = parseTypes(tableColumns[:])
	keyTypes    = []*schema.Type{columnTypes[0], columnTypes[3]}
)

func parseTypes(columns [][2]string) []*schema.Type {
	types := make([]*schema.Type, len(columns))
	for i, c := range columns {
		t, err := schema.ParseType(c[1])
		if err != nil {
			panic(err) // a constant of this package
		}
		types[i] = t
	}
	return types
}

// fileMeta is what a manifest entry says of a data file.
type fileMeta struct {
	name           string
	size, rows     int64
	level          int
	compacted      bool
	minSeq, maxSeq int64
	first, last    Line
	// ints are least and greatest values of the columns that are numbers, texts
	// of the others, by column.
	minInt, maxInt   [columnCount]int64
	minText, maxText [columnCount]string
}

// count takes a row into the statistics. Rows of keyed files come in key order.
func (m *fileMeta) count(l *Line, seq int64) {
	ints := [columnCount]int64{l.OrderKey, l.PartKey, l.SuppKey, int64(l.LineNumber), l.Quantity, l.ExtendedPrice, l.Discount, l.Tax,
		10: int64(l.ShipDate), 11: int64(l.CommitDate), 12: int64(l.ReceiptDate)}
	texts := [columnCount]string{8: l.ReturnFlag, 9: l.LineStatus, 13: l.ShipInstruct, 14: l.ShipMode, 15: l.Comment}
	if m.rows == 0 {
		m.first, m.minSeq, m.maxSeq = *l, seq, seq
		m.minInt, m.maxInt, m.minText, m.maxText = ints, ints, texts, texts
	}
	m.rows++
	m.last = *l
	m.minSeq, m.maxSeq = min(m.minSeq, seq), max(m.maxSeq, seq)
	for i := range ints {
		m.minInt[i], m.maxInt[i] = min(m.minInt[i], ints[i]), max(m.maxInt[i], ints[i])
	}
	for _, i := range [...]int{8, 9, 13, 14, 15} {
		m.minText[i], m.maxText[i] = min(m.minText[i], texts[i]), max(m.maxText[i], texts[i])
	}
}

// key is the framed BinaryRow of a row's primary key.
func key(l *Line) []byte {
	return binrow.EncodeRow(keyTypes, []column.Scalar{
		column.IntScalar(column.KindInt64, l.OrderKey), column.IntScalar(column.KindInt32, int64(l.LineNumber))})
}

// bounds are the framed rows of the least and greatest values of columns.
func (m *fileMeta) bounds(columns ...int) (least, greatest []byte) {
	types := make([]*schema.Type, len(columns))
	low, high := make([]column.Scalar, len(columns)), make([]column.Scalar, len(columns))
	for i, c := range columns {
		types[i] = columnTypes[c]
		switch kind := schema.KindOf(types[i]); kind {
		case column.KindBytes:
			low[i], high[i] = column.BytesScalar(truncate(m.minText[c], false)), column.BytesScalar(truncate(m.maxText[c], true))
		default:
			low[i], high[i] = column.IntScalar(kind, m.minInt[c]), column.IntScalar(kind, m.maxInt[c])
		}
	}
	return binrow.EncodeRow(types, low), binrow.EncodeRow(types, high)
}

// truncate shortens a bound of ASCII text; an upper bound's last letter goes up by one.
func truncate(s string, upper bool) []byte {
	if len(s) <= statsTextBytes {
		return []byte(s)
	}
	b := []byte(s[:statsTextBytes])
	if upper {
		b[statsTextBytes-1]++
	}
	return b
}
