package snapshot

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
)

// TagPath returns the path of a tag file.
func (m *Manager) TagPath(name string) string { return m.dir + "/tag/" + tagPrefix + name }

// checkRefName refuses names that would leave the directory.
func checkRefName(kind, name string) error {
	if strings.TrimSpace(name) == "" {
		return errs.Invalidf("%s name must not be blank", kind)
	}
	if strings.ContainsAny(name, "/\x00") {
		return errs.NotFoundf("%s '%s' doesn't exist.", kind, name)
	}
	return nil
}

// TagNames lists the branch's tags, ascending by name.
func (m *Manager) TagNames(ctx context.Context) ([]string, error) {
	return m.names(ctx, "tag", tagPrefix)
}

func (m *Manager) names(ctx context.Context, sub, prefix string) ([]string, error) {
	infos, err := m.fio.List(ctx, m.dir+"/"+sub)
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, i := range infos {
		if n, ok := strings.CutPrefix(i.Name, prefix); ok && n != "" && !i.IsDir {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// HasTag reports whether a tag exists.
func (m *Manager) HasTag(ctx context.Context, name string) (bool, error) {
	if err := checkRefName("Tag", name); err != nil {
		return false, nil
	}
	return exists(ctx, m.fio, m.TagPath(name))
}

// Tag reads a tag: errs.NotFound where there is none.
func (m *Manager) Tag(ctx context.Context, name string) (*Tag, error) {
	if err := checkRefName("Tag", name); err != nil {
		return nil, err
	}
	p := m.TagPath(name)
	t, err := readJSON(ctx, m, p, func(b []byte) (*Tag, error) { return ParseTag(p, name, b) })
	if errs.Is(err, errs.NotFound) {
		return nil, errs.NotFoundf("Tag '%s' doesn't exist.", name)
	}
	return t, err
}

// Tags reads all tags, ascending by name. Damaged ones are left out and
// reported joined in err, beside the good ones.
func (m *Manager) Tags(ctx context.Context) ([]*Tag, error) {
	names, err := m.TagNames(ctx)
	if err != nil {
		return nil, err
	}
	return collect(ctx, names, m.Tag)
}

// Consumer is a streaming reader's progress (section 3.4).
type Consumer struct {
	ID string
	// NextSnapshot is the snapshot it reads next.
	NextSnapshot int64
}

// Consumer reads a consumer: errs.NotFound where there is none.
func (m *Manager) Consumer(ctx context.Context, id string) (*Consumer, error) {
	if err := checkRefName("Consumer", id); err != nil {
		return nil, err
	}
	p := m.dir + "/consumer/" + consumerPrefix + id
	c, err := readJSON(ctx, m, p, func(b []byte) (*Consumer, error) {
		o, err := parseObject(b)
		c := &Consumer{ID: id}
		if err == nil {
			err = o.need("nextSnapshot", &c.NextSnapshot)
		}
		if err != nil {
			return nil, damaged(fmt.Sprintf("consumer '%s': the file %s", id, p), err)
		}
		return c, nil
	})
	if errs.Is(err, errs.NotFound) {
		return nil, errs.NotFoundf("Consumer '%s' doesn't exist.", id)
	}
	return c, err
}

// Consumers reads all consumers, ascending by id; damaged ones as in Tags.
func (m *Manager) Consumers(ctx context.Context) ([]*Consumer, error) {
	ids, err := m.names(ctx, "consumer", consumerPrefix)
	if err != nil {
		return nil, err
	}
	return collect(ctx, ids, m.Consumer)
}

// Branch is a branch other than main.
type Branch struct {
	Name string
	// Created is the time of the last change of the branch's directory.
	Created time.Time
}

// Branches lists the branches of a table, ascending by name; main is not listed.
func Branches(ctx context.Context, fio fileio.FileIO, tableDir string) ([]Branch, error) {
	infos, err := fio.List(ctx, path.Join(tableDir, "branch"))
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Branch
	for _, i := range infos {
		if n, ok := strings.CutPrefix(i.Name, branchPrefix); ok && n != "" && i.IsDir {
			out = append(out, Branch{Name: n, Created: i.ModTime})
		}
	}
	slices.SortFunc(out, func(a, b Branch) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// BranchExists reports whether a branch exists; main always does.
func BranchExists(ctx context.Context, fio fileio.FileIO, tableDir, branch string) (bool, error) {
	if branch == "" || branch == MainBranch {
		return true, nil
	}
	if strings.ContainsAny(branch, "/\x00") {
		return false, nil
	}
	i, err := fio.Stat(ctx, BranchDir(tableDir, branch))
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	return err == nil && i.IsDir, err
}

// BranchNotFound is the error for a missing branch.
func BranchNotFound(branch string) error {
	return errs.NotFoundf("Branch name '%s' doesn't exist.", branch)
}
