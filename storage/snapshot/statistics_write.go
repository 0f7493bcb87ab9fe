package snapshot

import (
	"context"
	"fmt"
	"path"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
)

// JSON returns the content of a statistics file (section 3.5 of the format; Paimon's StatsFile). ColumnsJSON is ignored.
func (s *Statistics) JSON() []byte {
	var w marshal
	w.num("snapshotId", s.SnapshotID)
	w.num("schemaId", s.SchemaID)
	w.opt("mergedRecordCount", s.MergedRecordCount)
	w.opt("mergedRecordSize", s.MergedRecordSize)
	var cols marshal
	for i := range s.Columns {
		c := &s.Columns[i]
		var col marshal
		col.num("colId", c.ColumnID)
		col.opt("distinctCount", c.DistinctCount)
		col.text("min", c.Min)
		col.text("max", c.Max)
		col.opt("nullCount", c.NullCount)
		col.opt("avgLen", c.AvgLength)
		col.opt("maxLen", c.MaxLength)
		if len(cols.buf) > 0 {
			cols.buf = append(cols.buf, ',')
		}
		cols.quote(c.Column)
		cols.buf = append(append(append(cols.buf, ":{"...), col.buf...), '}')
	}
	w.key("colStats")
	w.buf = append(append(append(w.buf, '{'), cols.buf...), '}')
	return w.finish()
}

// text appends a text that may be empty; nil is left out.
func (w *marshal) text(k string, s *string) {
	if s != nil {
		w.key(k)
		w.quote(*s)
	}
}

// WriteStatistics writes a new statistics file, whose name is not in use.
func WriteStatistics(ctx context.Context, fio fileio.FileIO, tableDir, name string, s *Statistics) error {
	dir := path.Join(tableDir, "statistics")
	if err := fio.MkdirAll(ctx, dir); err != nil {
		return err
	}
	p := path.Join(dir, name)
	created, err := fio.PutIfAbsent(ctx, p, s.JSON())
	if err == nil && !created {
		err = errs.Conflictf("statistics file %s is there already", p)
	}
	if err != nil {
		return fmt.Errorf("writing statistics: %w", err)
	}
	return nil
}
