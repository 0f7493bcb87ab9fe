package generate

import (
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// How Paimon's Parquet writer (parquet-mr) lays out files by default.
const (
	pageRows         = 20_000
	pageBytes        = 1 << 20
	dictionaryBytes  = 1 << 20
	rowsPerRowGroup  = 4_000_000 // about 128 MB of these rows
	chunkRows        = 4096
	fileBufferBytes  = 1 << 20
	parquetCreatedBy = "tributary-bench"
)

// Columns whose first page would be no smaller with a dictionary have none:
// parquet-mr gives up on them at once.
type partColumns struct {
	PartKey *int64 `parquet:"l_partkey,plain,id(1)"`
	SuppKey *int64 `parquet:"l_suppkey,dict,id(2)"`
}

type valueColumns struct {
	Quantity      *int64 `parquet:"l_quantity,dict,decimal(2:15),id(4)"`
	ExtendedPrice *int64 `parquet:"l_extendedprice,plain,decimal(2:15),id(5)"`
	Discount      *int64 `parquet:"l_discount,dict,decimal(2:15),id(6)"`
	Tax           *int64 `parquet:"l_tax,dict,decimal(2:15),id(7)"`
	// parquet-go writes an empty string of an optional column as a null: there are none.
	ReturnFlag   string `parquet:"l_returnflag,optional,dict,id(8)"`
	LineStatus   string `parquet:"l_linestatus,optional,dict,id(9)"`
	ShipDate     *int32 `parquet:"l_shipdate,dict,date,id(10)"`
	CommitDate   *int32 `parquet:"l_commitdate,dict,date,id(11)"`
	ReceiptDate  *int32 `parquet:"l_receiptdate,dict,date,id(12)"`
	ShipInstruct string `parquet:"l_shipinstruct,optional,dict,id(13)"`
	ShipMode     string `parquet:"l_shipmode,optional,dict,id(14)"`
	Comment      string `parquet:"l_comment,optional,plain,id(15)"`
}

// appendRow is a row of an append table's file: every column may be null.
type appendRow struct {
	OrderKey *int64 `parquet:"l_orderkey,dict,id(0)"`
	partColumns
	LineNumber *int32 `parquet:"l_linenumber,dict,id(3)"`
	valueColumns
}

// keyedRow is a row of a primary-key table's file.
type keyedRow struct {
	KeyOrder int64 `parquet:"_KEY_l_orderkey,dict,id(1073741823)"`
	KeyLine  int32 `parquet:"_KEY_l_linenumber,dict,id(1073741826)"`
	Sequence int64 `parquet:"_SEQUENCE_NUMBER,plain,id(2147483646)"`
	Kind     int8  `parquet:"_VALUE_KIND,dict,id(2147483645)"`
	OrderKey int64 `parquet:"l_orderkey,dict,id(0)"`
	partColumns
	LineNumber int32 `parquet:"l_linenumber,dict,id(3)"`
	valueColumns
}

func (p *partColumns) point(l *Line) { p.PartKey, p.SuppKey = &l.PartKey, &l.SuppKey }

func (v *valueColumns) point(l *Line) {
	v.Quantity, v.ExtendedPrice, v.Discount, v.Tax = &l.Quantity, &l.ExtendedPrice, &l.Discount, &l.Tax
	v.ShipDate, v.CommitDate, v.ReceiptDate = &l.ShipDate, &l.CommitDate, &l.ReceiptDate
}

func (v *valueColumns) texts(l *Line) {
	v.ReturnFlag, v.LineStatus, v.ShipInstruct, v.ShipMode, v.Comment = l.ReturnFlag, l.LineStatus, l.ShipInstruct, l.ShipMode, l.Comment
}

// dataFile writes one data file and notes what its manifest entry says.
type dataFile struct {
	meta   fileMeta
	file   *os.File
	keyed  bool
	seq    []int64
	lines  []Line
	append *parquet.GenericWriter[appendRow]
	kv     *parquet.GenericWriter[keyedRow]
	rows   []appendRow
	kvRows []keyedRow
	page   int
}

// createFile starts a data file. Sequence numbers are kept in keyed files only.
func createFile(path string, meta fileMeta, keyed bool) (*dataFile, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	d := &dataFile{meta: meta, file: f, keyed: keyed, lines: make([]Line, 0, chunkRows)}
	options := func(schema *parquet.Schema) []parquet.WriterOption {
		return []parquet.WriterOption{
			parquet.NewSchema("paimon_schema", schema),
			parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}),
			parquet.DataPageVersion(1),
			parquet.PageBufferSize(pageBytes),
			parquet.WriteBufferSize(fileBufferBytes),
			parquet.DictionaryMaxBytes(dictionaryBytes),
			parquet.MaxRowsPerRowGroup(rowsPerRowGroup),
			parquet.CreatedBy(parquetCreatedBy, "1", ""),
		}
	}
	full := d.lines[:chunkRows]
	if keyed {
		d.kv = parquet.NewGenericWriter[keyedRow](f, options(parquet.SchemaOf(keyedRow{}))...)
		d.kvRows, d.seq = make([]keyedRow, chunkRows), make([]int64, 0, chunkRows)
		for i := range full {
			d.kvRows[i].partColumns.point(&full[i])
			d.kvRows[i].valueColumns.point(&full[i])
		}
		return d, nil
	}
	d.append = parquet.NewGenericWriter[appendRow](f, options(parquet.SchemaOf(appendRow{}))...)
	d.rows = make([]appendRow, chunkRows)
	for i := range full {
		d.rows[i].OrderKey, d.rows[i].LineNumber = &full[i].OrderKey, &full[i].LineNumber
		d.rows[i].partColumns.point(&full[i])
		d.rows[i].valueColumns.point(&full[i])
	}
	return d, nil
}

// add writes a row.
func (d *dataFile) add(l *Line, seq int64) error {
	d.meta.count(l, seq)
	d.lines = append(d.lines, *l)
	if d.keyed {
		d.seq = append(d.seq, seq)
	}
	if len(d.lines) == chunkRows || d.page+len(d.lines) == pageRows {
		return d.flush()
	}
	return nil
}

func (d *dataFile) flush() error {
	n := len(d.lines)
	var err error
	for i := range d.lines {
		l := &d.lines[i]
		if !d.keyed {
			d.rows[i].texts(l)
			continue
		}
		r := &d.kvRows[i]
		r.KeyOrder, r.KeyLine, r.Sequence, r.OrderKey, r.LineNumber = l.OrderKey, l.LineNumber, d.seq[i], l.OrderKey, l.LineNumber
		r.texts(l)
	}
	var columns []*parquet.ColumnWriter
	if d.keyed {
		_, err = d.kv.Write(d.kvRows[:n])
		columns = d.kv.ColumnWriters()
	} else {
		_, err = d.append.Write(d.rows[:n])
		columns = d.append.ColumnWriters()
	}
	if err != nil {
		return err
	}
	d.lines, d.seq = d.lines[:0], d.seq[:0]
	if d.page += n; d.page < pageRows {
		return nil
	}
	d.page = 0
	for _, c := range columns {
		if err := c.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// close ends the file and returns its description.
func (d *dataFile) close() (fileMeta, error) {
	err := d.flush()
	if err == nil && d.keyed {
		err = d.kv.Close()
	} else if err == nil {
		err = d.append.Close()
	}
	if err == nil {
		info, e := d.file.Stat()
		if err = e; err == nil {
			d.meta.size = info.Size()
		}
	}
	if e := d.file.Close(); err == nil {
		err = e
	}
	return d.meta, err
}
