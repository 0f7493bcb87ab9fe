package faults

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/tributarydb/tributary/sqlengine"
	"github.com/tributarydb/tributary/sqlengine/exec"
	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/storage/fileio"
)

// warehouseDir is the folder of the warehouse in memory.
const warehouseDir = "/w"

// engine is a planner over a catalog that can be replaced: making a planner costs more than a statement.
type engine struct {
	sqlengine.FullCatalog
	planner *planner.Engine
}

// engines are those that no test uses at the moment.
var engines = make(chan *engine, 64)

// takeEngine gives a test an engine for its time.
func takeEngine(t *testing.T) *engine {
	t.Helper()
	var e *engine
	select {
	case e = <-engines:
	default:
		e = &engine{FullCatalog: sqlengine.NewCatalog(fileio.NewMemory(), warehouseDir, nil)}
		vectors := exec.New(exec.Options{})
		p, err := planner.New(planner.Options{Catalog: e, Replace: vectors.Replace})
		if err != nil {
			t.Fatal(err)
		}
		vectors.Bind(p)
		e.planner = p
	}
	t.Cleanup(func() { engines <- e })
	return e
}

// process is a server that has just started over some files.
type process struct {
	e    *engine
	sess sql.Session
}

func (e *engine) start(t *testing.T, fio fileio.FileIO) *process {
	t.Helper()
	e.FullCatalog = sqlengine.NewCatalog(fio, warehouseDir, nil)
	s, err := e.planner.NewSession(context.Background(), &mysql.Conn{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	s.SetCurrentDatabase("default")
	return &process{e: e, sess: s}
}

// loaded is what a client sends as the file of a LOAD DATA LOCAL INFILE.
const loaded = "21\tx\t1\n22\ty\t5\n"

// run executes statements up to the first that fails.
func (p *process) run(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if err := p.one(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (p *process) one(ctx context.Context, query string) error {
	c := sql.NewContext(ctx, sql.WithSession(p.sess), sql.WithProcessList(p.e.planner.ProcessList),
		sql.WithServices(sql.Services{LoadInfile: func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(loaded)), nil }}))
	if l, ok := p.sess.(sql.LifecycleAwareSession); ok {
		if err := l.CommandBegin(); err != nil {
			return err
		}
		defer l.CommandEnd()
	}
	_, it, _, err := p.e.planner.Query(c, query)
	if err != nil {
		return err
	}
	_, err = sql.RowIterToRows(c, it)
	return err
}
