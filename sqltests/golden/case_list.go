package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Names of the files of a case.
const (
	ArchiveName = "warehouse.tar.zst"
	FolderName  = "warehouse" // an unpacked warehouse, accepted in place of the archive
	ScriptName  = "cases.slt"
)

// Case is one golden warehouse.
type Case struct {
	Name    string // name of its folder
	Archive string // path of the warehouse archive
	Script  string // path of the script with queries and answers
}

// Root returns the folder testdata/golden of the module that holds the working
// directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			root := filepath.Join(dir, "testdata", "golden")
			if _, err := os.Stat(root); err != nil {
				return "", err
			}
			return root, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("golden: no go.mod above the working directory")
		}
		dir = up
	}
}

// List returns the cases below root, sorted by name. A folder without archive
// or script is an error, so that no case is left out silently.
func List(root string) ([]Case, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var out []Case
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		dir := filepath.Join(root, e.Name())
		c := Case{Name: e.Name(), Archive: filepath.Join(dir, ArchiveName), Script: filepath.Join(dir, ScriptName)}
		for _, f := range []string{c.Archive, c.Script} {
			info, err := os.Stat(f)
			if err != nil {
				return nil, fmt.Errorf("golden case %s: %w", c.Name, err)
			}
			if !info.Mode().IsRegular() {
				return nil, fmt.Errorf("golden case %s: %s is not a file", c.Name, f)
			}
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("golden: no cases in %s: %w", root, fs.ErrNotExist)
	}
	return out, nil
}
