package index_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributarydb/tributary/sqltests/golden"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/index"
	"github.com/tributarydb/tributary/storage/manifest"
)

// TestGoldenIndexFiles writes every deletion vector and hash index file of the
// golden tables from what is read of it: the files and what manifests say of them are equal.
func TestGoldenIndexFiles(t *testing.T) {
	root, err := golden.Root()
	if err != nil {
		t.Skip(err)
	}
	cases, err := golden.List(root)
	if err != nil {
		t.Fatal(err)
	}
	vectors, hashes := 0, 0
	for _, c := range cases {
		if strings.HasPrefix(c.Name, "bug-") || c.Name == "pk_dv_many_index_files" && testing.Short() {
			continue
		}
		dir := t.TempDir()
		if err := golden.Unpack(c.Archive, dir); err != nil {
			t.Fatal(err)
		}
		_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasPrefix(d.Name(), "index-manifest-") {
				v, h := rewriteIndexes(t, c.Name, p)
				vectors, hashes = vectors+v, hashes+h
			}
			return err
		})
		_ = os.RemoveAll(dir)
	}
	t.Log(vectors, "vector files,", hashes, "hash files")
	if vectors < 20 || hashes < 2 {
		t.Error("too few files were compared")
	}
}

func rewriteIndexes(t *testing.T, name, file string) (vectors, hashes int) {
	ctx := context.Background()
	local, mem := fileio.NewLocal(), fileio.NewMemory()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := manifest.DecodeIndex(ctx, file, b)
	if err != nil {
		return 0, 0
	}
	table := filepath.Dir(filepath.Dir(file))
	for i := range entries {
		e := &entries[i]
		p := index.Path(table, "", e, false)
		want, err := os.ReadFile(p)
		if err != nil {
			continue // expired, or beside the data
		}
		switch e.Type {
		case manifest.IndexHash:
			h, err := index.ReadHashes(ctx, local, p)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := index.WriteHashes(ctx, mem, "/x", h); err != nil {
				t.Fatal(err)
			}
			hashes++
		case manifest.IndexDeletionVectors:
			w, err := index.CreateVectors(ctx, mem, "/x")
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range e.Ranges {
				v, err := index.ReadVector(ctx, local, nil, p, e.Size, r)
				if err != nil {
					t.Fatal(err)
				}
				// Positions one by one, as a writer has them.
				var all []int64
				v.Each(func(p int64) bool { all = append(all, p); return true })
				if v, err = index.VectorOf(v.Wide(), all...); err != nil {
					t.Fatal(err)
				}
				if err := w.Add(r.DataFile, v); err != nil {
					t.Fatal(err)
				}
			}
			ranges, size, err := w.Close()
			if err != nil {
				t.Fatal(err)
			}
			if size != e.Size || len(ranges) != len(e.Ranges) || e.RowCount != int64(len(ranges)) {
				t.Errorf("%s: %s has %d bytes and %d vectors, written are %d and %d", name, e.Name, e.Size, len(e.Ranges), size, len(ranges))
			}
			for k, r := range ranges {
				o := e.Ranges[k]
				if r.Offset != o.Offset || r.Length != o.Length || o.Cardinality != nil && *r.Cardinality != *o.Cardinality {
					t.Errorf("%s: %s: range %d is %+v, written is %+v", name, e.Name, k, o, r)
				}
			}
			vectors++
		default:
			continue
		}
		got, err := mem.ReadFile(ctx, "/x")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %s is not written as it was", name, e.Name)
		}
	}
	return vectors, hashes
}
