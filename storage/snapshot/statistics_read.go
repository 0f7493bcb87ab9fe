package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
)

// ColumnStatistics are what ANALYZE found of a column. Min and Max are the
// texts of the values; nil = unknown.
type ColumnStatistics struct {
	Column                                         string
	ColumnID                                       int64
	DistinctCount, NullCount, AvgLength, MaxLength *int64
	Min, Max                                       *string
}

// Statistics are the table statistics of ANALYZE (section 3.5): advisory.
type Statistics struct {
	SnapshotID, SchemaID int64
	MergedRecordCount    *int64
	MergedRecordSize     *int64
	Columns              []ColumnStatistics
	// ColumnsJSON is the object of the columns as the file has it, compact.
	ColumnsJSON string
}

// ReadStatistics reads a statistics file that a snapshot names.
func ReadStatistics(ctx context.Context, fio fileio.FileIO, tableDir, name string) (*Statistics, error) {
	p := path.Join(tableDir, "statistics", name)
	data, err := fio.ReadFile(ctx, p)
	if err != nil {
		return nil, err
	}
	return ParseStatistics(p, data)
}

// ParseStatistics parses a statistics file; name is its path, for messages.
func ParseStatistics(name string, data []byte) (*Statistics, error) {
	s, err := parseStatistics(data)
	if err != nil {
		return nil, errs.Corruptf("statistics file %s is damaged: %w", name, err)
	}
	return s, nil
}

func parseStatistics(data []byte) (*Statistics, error) {
	m, err := parseObject(data)
	if err != nil {
		return nil, err
	}
	s := &Statistics{}
	if err := m.need("snapshotId", &s.SnapshotID); err != nil {
		return nil, err
	}
	if err := m.need("schemaId", &s.SchemaID); err != nil {
		return nil, err
	}
	if s.MergedRecordCount, err = m.int("mergedRecordCount"); err != nil {
		return nil, err
	}
	if s.MergedRecordSize, err = m.int("mergedRecordSize"); err != nil {
		return nil, err
	}
	if !m.has("colStats") {
		return s, nil
	}
	var cols map[string]json.RawMessage
	if err := json.Unmarshal(m["colStats"], &cols); err != nil {
		return nil, fmt.Errorf("'colStats' is not an object")
	}
	if s.ColumnsJSON, err = compact(m["colStats"]); err != nil {
		return nil, err
	}
	for name, raw := range cols {
		o, err := parseObject(raw)
		if err != nil {
			return nil, fmt.Errorf("column '%s': %w", name, err)
		}
		c := ColumnStatistics{Column: name}
		if err := o.need("colId", &c.ColumnID); err != nil {
			return nil, fmt.Errorf("column '%s': %w", name, err)
		}
		for _, f := range []struct {
			key string
			dst **int64
		}{{"distinctCount", &c.DistinctCount}, {"nullCount", &c.NullCount}, {"avgLen", &c.AvgLength}, {"maxLen", &c.MaxLength}} {
			if *f.dst, err = o.int(f.key); err != nil {
				return nil, fmt.Errorf("column '%s': %w", name, err)
			}
		}
		for _, f := range []struct {
			key string
			dst **string
		}{{"min", &c.Min}, {"max", &c.Max}} {
			if o.has(f.key) {
				var t string
				if err := o.text(f.key, &t); err != nil {
					return nil, fmt.Errorf("column '%s': %w", name, err)
				}
				*f.dst = &t
			}
		}
		s.Columns = append(s.Columns, c)
	}
	slices.SortFunc(s.Columns, func(a, b ColumnStatistics) int { return int(a.ColumnID - b.ColumnID) })
	return s, nil
}

// compact removes the white space between tokens.
func compact(raw json.RawMessage) (string, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return "", err
	}
	return b.String(), nil
}
