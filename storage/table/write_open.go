package table

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"maps"
	"runtime"
	"sync"
	"time"

	"github.com/tributarydb/tributary/storage/cast"
	"github.com/tributarydb/tributary/storage/column"
	"github.com/tributarydb/tributary/storage/commit"
	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/read"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/scan"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
	"github.com/tributarydb/tributary/storage/write"
)

// WriteEnv is what all writers of a warehouse share. The zero value is ready.
type WriteEnv struct {
	// Clock tells the time in the zone of the server; nil = the machine's.
	Clock func() time.Time
	// Rand makes names; nil = the system's source. It is asked by one goroutine at a time.
	Rand io.Reader
	// TempDir is the local directory of rows that do not fit in memory; "" = the system's.
	TempDir string
	// Compactions runs the compactions that no statement waits for; nil = the statement that commits runs them, and small
	// files of append tables without buckets stay as they are.
	Compactions *Compactions
	// LookupKeys is compact.Target.LookupKeys.
	LookupKeys int64

	randMu sync.Mutex
	// gates are the branches written in this process.
	gates sync.Map
}

// Read gives random bytes.
func (e *WriteEnv) Read(p []byte) (int, error) {
	if e.Rand == nil {
		return rand.Read(p)
	}
	e.randMu.Lock()
	defer e.randMu.Unlock()
	return io.ReadFull(e.Rand, p)
}

func (e *WriteEnv) now() time.Time {
	if e.Clock == nil {
		return time.Now()
	}
	return e.Clock()
}

// gateKey names a branch.
type gateKey struct{ dir, branch string }

func (e *WriteEnv) gate(dir, branch string) *writeGate {
	g, _ := e.gates.LoadOrStore(gateKey{dir, branch}, newWriteGate())
	return g.(*writeGate)
}

// OpenSink starts a statement that writes rows into the table's branch: all of
// them, in one snapshot, at the sink's Commit. Tables that cannot be written correctly are errs.Unsupported.
func (t *Table) OpenSink(ctx context.Context, o relation.SinkOptions) (relation.Sink, error) {
	st, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	if st.Explicit || st.Kind != FullState {
		return nil, errs.Invalidf("table %s: rows cannot be written to a past state or a range of snapshots; write without scan options and AS OF", t.Label())
	}
	over := maps.Clone(t.opts.Dynamic)
	if over == nil {
		over = map[string]string{}
	}
	delete(over, "branch")
	for k, v := range o.Options {
		if err := t.stored.CheckDynamic(k, v); err != nil {
			return nil, err
		}
		over[k] = v
	}
	s := &sink{t: t, schema: t.stored.WithOptions(over), over: over, o: o, gate: t.env.Writing.gate(t.dir, t.branch)}
	if err := s.readStatic(); err != nil {
		return nil, err
	}
	if w, set, err := schema.OptEndInputWatermark.Lookup(s.schema.Options); err != nil {
		return nil, err
	} else if set {
		s.watermark = &w
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

// readStatic reads the partition clause and decides what an OVERWRITE replaces.
func (s *sink) readStatic() error {
	static, byName := write.Static{}, map[string]column.Scalar{}
	text := &schema.Type{Root: schema.Varchar, Length: schema.MaxLength}
	for name, v := range s.o.Static {
		i := s.schema.Index(name)
		if i < 0 || schema.IndexOf(s.schema.PartitionFields(), name) < 0 {
			return errs.Invalidf("table %s: '%s' is no partition column", s.t.Label(), name)
		}
		typ := s.schema.Fields[i].Type
		val := column.NullScalar(schema.KindOf(typ))
		if v != nil && *v != schema.OptPartitionDefault.Value(s.schema.Options) {
			var err error
			if val, err = cast.Scalar(text, typ, column.BytesScalar([]byte(*v))); err != nil {
				return errs.Invalidf("table %s: '%s' is no value of partition column '%s' of type %s: %w", s.t.Label(), *v, name, typ, err)
			}
		}
		static[i], byName[name] = val, val
	}
	s.static = static
	if !s.o.Overwrite {
		return nil
	}
	dynamic := true
	if v, ok := s.schema.Options[optDynamicOverwrite]; ok {
		var err error
		if dynamic, err = schema.ParseBool(v); err != nil {
			return errs.Invalidf("option '%s' has the value '%s': %w", optDynamicOverwrite, v, err)
		}
	}
	s.replace = &commit.Overwrite{Dynamic: dynamic && s.schema.Partitioned()}
	if !s.replace.Dynamic {
		s.replace.Static = byName
	}
	return nil
}

// optDynamicOverwrite decides whether an OVERWRITE replaces the partitions that get rows, or what the clause selects.
const optDynamicOverwrite = "dynamic-partition-overwrite"

// target is the branch as writers see it.
func (s *sink) target(user string) write.Target {
	env := &s.t.env.Writing
	return write.Target{
		FIO: s.t.env.FIO, Dir: s.t.dir, Label: s.t.Label(), Schema: s.schema, Clock: env.now, Rand: env, User: user,
		TempDir: env.TempDir, LastPostponed: &s.gate.lastPostponed, Parallelism: runtime.GOMAXPROCS(0),
	}
}

// committer publishes to the branch.
func (s *sink) committer() *commit.Committer {
	env := &s.t.env.Writing
	return commit.New(commit.Target{
		FIO: s.t.env.FIO, Dir: s.t.dir, Label: s.t.Label(), Schema: s.schema, Schemas: s.t.schemas, Snapshots: s.t.snaps, Store: s.t.store,
		Clock: env.now, Random: env,
	})
}

// state is the branch's newest state, for Prepare.
func (s *sink) state(ctx context.Context) (write.State, error) {
	snap, err := s.t.snaps.Latest(ctx)
	if err != nil {
		return write.State{}, err
	}
	src := s.t.Source()
	src.Schema = s.schema
	return write.State{Source: src, Snapshot: snap, Keys: func(ctx context.Context, fn func([]column.Scalar, int, *column.Batch) error) error {
		return s.eachKey(ctx, src, snap, fn)
	}}, nil
}

// eachKey reads the primary keys of all rows of a snapshot.
func (s *sink) eachKey(ctx context.Context, src *scan.Source, snap *snapshot.Snapshot, fn func([]column.Scalar, int, *column.Batch) error) error {
	plan, err := src.Plan(ctx, snap, scan.Request{Levels: func(int) bool { return true }})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx) // closes the files
	defer cancel()
	handles := s.t.env.Readers.NewHandles(ctx)
	want := read.Want{}
	for _, k := range s.schema.PrimaryKeys {
		want.Columns = append(want.Columns, s.schema.Index(k))
	}
	for _, sp := range plan.Splits {
		for _, m := range read.Morsels(handles, sp, want) {
			if err := eachBatch(ctx, m, func(b *column.Batch) error { return fn(sp.Partition, sp.Bucket, b) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachBatch reads a morsel.
func eachBatch(ctx context.Context, m relation.Morsel, fn func(*column.Batch) error) error {
	r, err := m.Open(ctx)
	if err != nil {
		return err
	}
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return r.Close()
		}
		if err == nil {
			err = fn(b)
		}
		if err != nil {
			return errors.Join(err, r.Close())
		}
	}
}
