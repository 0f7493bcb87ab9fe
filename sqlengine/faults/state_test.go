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
	rows      map[string]string // of a snapshot, by its UUID and the schema
}

func newReader() *reader {
	return &reader{manifests: manifest.NewCache(64 << 20), rows: map[string]string{}}
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
	rows, err := r.rowsOf(ctx, tb, m)
	st["rows "+label] = rows
	return err
}

// rowsOf reads the newest rows.
func (r *reader) rowsOf(ctx context.Context, tb *table.Table, m *snapshot.Manager) (string, error) {
	latest, err := m.Latest(ctx)
	if err != nil || latest == nil {
		return "", err
	}
	key := fmt.Sprint(latest.UUID, tb.StoredSchema().ID)
	r.mu.Lock()
	rows, ok := r.rows[key]
	r.mu.Unlock()
	if ok {
		return rows, nil
	}
	if rows, err = readRows(ctx, tb); err == nil {
		r.mu.Lock()
		r.rows[key] = rows
		r.mu.Unlock()
	}
	return rows, err
}

func readRows(ctx context.Context, tb *table.Table) (string, error) {
	text := &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	req := relation.Request{}
	for i := range tb.Fields() {
		req.Columns = append(req.Columns, i)
	}
	plan, err := tb.Plan(ctx, req)
	if err != nil {
		return "", err
	}
	var out []string
	for _, m := range plan.Morsels {
		rd, err := m.Open(ctx)
		if err != nil {
			return "", err
		}
		for {
			b, err := rd.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return "", errors.Join(err, rd.Close())
			}
			cols := make([]*column.Vector, len(b.Cols))
			for i, c := range b.Cols {
				conv, err := cast.New(tb.Fields()[i].Type, text)
				if err != nil {
					return "", err
				}
				if cols[i], err = conv(c); err != nil {
					return "", err
				}
			}
			for k := range b.Rows() {
				cells := make([]string, len(cols))
				for i, c := range cols {
					if cells[i] = "NULL"; !c.IsNull(b.Row(k)) {
						cells[i] = string(c.Bytes(b.Row(k)))
					}
				}
				out = append(out, strings.Join(cells, "|"))
			}
		}
		if err := rd.Close(); err != nil {
			return "", err
		}
	}
	slices.Sort(out)
	return strings.Join(out, " "), nil
}

// uncertain reports whether an error says that the statement may have been carried out.
func uncertain(err error) bool { return errs.Is(err, errs.Uncertain) }
