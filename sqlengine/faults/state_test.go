package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tributarydb/tributary/sqltests/inventory"
	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/manifest"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
	"github.com/tributarydb/tributary/storage/table"
)

// state is what a warehouse holds, thing by thing: what users see of it, without times and random names.
type state map[string]string

// differences lists the things that differ.
func (s state) differences(o state) (out []string) {
	for _, k := range slices.Sorted(maps.Keys(s)) {
		if v, ok := o[k]; !ok {
			out = append(out, fmt.Sprintf("only before: %s %s", k, s[k]))
		} else if v != s[k] {
			out = append(out, fmt.Sprintf("%s: %s, then %s", k, s[k], v))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(o)) {
		if _, ok := s[k]; !ok {
			out = append(out, fmt.Sprintf("only after: %s %s", k, o[k]))
		}
	}
	return out
}

// randomPart is what differs between two runs in names that are made.
var randomPart = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// reader reads states. Files that never change are read once for all clones of a warehouse.
type reader struct {
	manifests *manifest.Cache
	mu        sync.Mutex
	rows      map[string][]string // of a snapshot, by its UUID and the schema
	changes   map[string][]change // that a snapshot's changelog has, by the same
}

func newReader() *reader {
	return &reader{manifests: manifest.NewCache(64 << 20), rows: map[string][]string{}, changes: map[string][]change{}}
}

// read reads the state of a warehouse and demands that every file that a state names is there.
func (r *reader) read(ctx context.Context, fio *fileio.Memory) (state, *inventory.Inventory, error) {
	st := state{}
	inv, err := inventory.Read(ctx, fio, warehouseDir, r.manifests)
	if err != nil {
		return nil, nil, err
	}
	cat := catalog.NewFilesystem(fio, warehouseDir, &schema.Cache{})
	env := table.NewEnv(fio, cat, nil)
	dbs, err := cat.Databases(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, db := range dbs {
		st["database "+db] = ""
		names, err := cat.Tables(ctx, db)
		if err != nil {
			return nil, nil, err
		}
		for _, n := range names {
			dir, err := cat.TableDir(db, n)
			if err != nil {
				return nil, nil, err
			}
			branches, err := snapshot.Branches(ctx, fio, dir)
			if err != nil {
				return nil, nil, err
			}
			for _, f := range inv.Files {
				if path.Base(f) == "_SUCCESS" && strings.HasPrefix(f, dir+"/") {
					st["mark "+f] = ""
				}
			}
			for _, b := range append(branches, snapshot.Branch{Name: snapshot.MainBranch}) {
				if err := r.branch(ctx, st, env, fio, dir, db, n, b.Name); err != nil {
					return nil, nil, fmt.Errorf("table %s.%s branch %s: %w", db, n, b.Name, err)
				}
			}
			if err := inv.Table(ctx, dir); err != nil {
				return nil, nil, err
			}
		}
	}
	return st, inv, nil
}

func (r *reader) branch(ctx context.Context, st state, env *table.Env, fio *fileio.Memory, dir, db, name, branch string) error {
	tb, err := table.Open(ctx, env, db, name, table.OpenOptions{Branch: branch})
	if err != nil {
		return err
	}
	label := db + "." + name + " " + branch
	s := tb.StoredSchema()
	text := fmt.Sprint(s.ID, s.PrimaryKeys, s.PartitionKeys, s.Options, s.Comment)
	for _, f := range s.Fields {
		text += fmt.Sprint(" ", f.ID, f.Name, " ", f.Type)
		if f.Default != nil {
			text += "=" + *f.Default
		}
	}
	st["schema "+label] = text
	m := snapshot.NewManager(fio, dir, branch)
	snaps, err := m.List(ctx)
	if err != nil {
		return err
	}
	count := func(s *snapshot.Snapshot) string {
		return fmt.Sprint(s.ID, " ", s.CommitKind, " rows ", *s.TotalRecordCount, " schema ", s.SchemaID, " statistics ", s.Statistics != "")
	}
	for _, s := range snaps {
		st[fmt.Sprintf("snapshot %s %d", label, s.ID)] = count(s)
	}
	tags, err := m.Tags(ctx)
	if err != nil {
		return err
	}
	for _, x := range tags {
		st["tag "+label+" "+randomPart.ReplaceAllString(x.Name, "…")] = count(x.Snapshot)
	}
	logs, err := m.ChangelogIDs(ctx)
	if err != nil {
		return err
	}
	for _, id := range logs {
		s, err := m.Changelog(ctx, id)
		if err != nil {
			return err
		}
		st[fmt.Sprintf("changelog %s %d", label, id)] = count(s)
	}
	consumers, err := m.ConsumerTimes(ctx)
	if err != nil {
		return err
	}
	for id := range consumers {
		b, err := fio.ReadFile(ctx, m.ConsumerPath(id))
		if err != nil {
			return err
		}
		st["consumer "+label+" "+id] = strings.Join(strings.Fields(string(b)), "")
	}
	latest, err := m.Latest(ctx)
	if err != nil {
		return err
	}
	rows, err := r.rowsOf(ctx, tb, latest)
	if err != nil {
		return err
	}
	st["rows "+label] = strings.Join(rows, " ")
	told, tells, err := r.replay(ctx, env, tb, m, snaps, logs)
	if errors.Is(err, errGap) {
		st["gap "+label], err = "", nil
	}
	if tells {
		st["told "+label] = strings.Join(told, " ")
	}
	return err
}

// rowsOf reads the rows of a snapshot, ascending. t reads that snapshot.
func (r *reader) rowsOf(ctx context.Context, t *table.Table, s *snapshot.Snapshot) ([]string, error) {
	if s == nil {
		return nil, nil
	}
	key := fmt.Sprint(s.UUID, t.StoredSchema().ID)
	r.mu.Lock()
	rows, ok := r.rows[key]
	r.mu.Unlock()
	if ok {
		return rows, nil
	}
	all, err := readRows(ctx, t)
	if err != nil {
		return nil, err
	}
	rows = []string{}
	for _, x := range all {
		rows = append(rows, x.row)
	}
	slices.Sort(rows)
	r.mu.Lock()
	r.rows[key] = rows
	r.mu.Unlock()
	return rows, nil
}

// readRows reads the rows that a table shows, in its order.
func readRows(ctx context.Context, t *table.Table) ([]change, error) {
	req := relation.Request{}
	for i := range t.Fields() {
		req.Columns = append(req.Columns, i)
	}
	plan, err := t.Plan(ctx, req)
	if err != nil {
		return nil, err
	}
	return readMorsels(ctx, t.Fields(), plan.Morsels, false)
}

// readMorsels reads rows as text, with kinds where the column behind fields tells them.
func readMorsels(ctx context.Context, fields []schema.Field, morsels []relation.Morsel, kinds bool) ([]change, error) {
	text := &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	var out []change
	for _, m := range morsels {
		rd, err := m.Open(ctx)
		if err != nil {
			return nil, err
		}
		for {
			b, err := rd.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, errors.Join(err, rd.Close())
			}
			cols := make([]*column.Vector, len(fields))
			for i, f := range fields {
				conv, err := cast.New(f.Type, text)
				if err != nil {
					return nil, err
				}
				if cols[i], err = conv(b.Cols[i]); err != nil {
					return nil, err
				}
			}
			for k := range b.Rows() {
				cells := make([]string, len(cols))
				for i, c := range cols {
					if cells[i] = "NULL"; !c.IsNull(b.Row(k)) {
						cells[i] = string(c.Bytes(b.Row(k)))
					}
				}
				x := change{row: strings.Join(cells, "|")}
				if kinds {
					x.kind = int32(b.Cols[len(cols)].Int(b.Row(k)))
				}
				out = append(out, x)
			}
		}
		if err := rd.Close(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// uncertain reports whether an error says that the statement may have been carried out.
func uncertain(err error) bool { return errs.Is(err, errs.Uncertain) }
