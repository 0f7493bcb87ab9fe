package maintain

import (
	"context"
	"fmt"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// BranchOptions say what a new branch is.
type BranchOptions struct {
	// Tag is the tag of the own branch whose state the new branch begins with; "" = an empty
	// branch with all schemas of the own one.
	Tag string
	// IgnoreIfExists makes an existing branch of the name no error.
	IgnoreIfExists bool
}

// CreateBranch makes a branch of the own one (section 13.2 of the format). It is
// built in a hidden directory, and appears whole.
func (t *Table) CreateBranch(ctx context.Context, name string, o BranchOptions) error {
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if o.IgnoreIfExists {
		ok, err := snapshot.BranchExists(ctx, t.t.FIO, t.t.Dir, name)
		if err != nil {
			return err
		}
		if ok && strings.TrimSpace(name) != "" {
			return nil
		}
	}
	if err := snapshot.CheckBranchName(name); err != nil {
		return err
	}
	var files []snapshot.BranchFile
	upTo := int64(-1)
	if o.Tag != "" {
		tag, err := t.own.snaps.Tag(ctx, o.Tag)
		if err != nil {
			return err
		}
		upTo = tag.SchemaID
		data, err := t.t.FIO.ReadFile(ctx, t.own.snaps.TagPath(o.Tag))
		if err != nil {
			return err
		}
		files = append(files, snapshot.BranchFile{Path: rel(t.own, t.own.snaps.TagPath(o.Tag)), Data: data})
		data, err = t.t.FIO.ReadFile(ctx, t.own.snaps.Path(tag.ID))
		if errs.Is(err, errs.NotFound) {
			data, err = tag.Snapshot.JSON(), nil
		} else if err == nil {
			// After a rollback another snapshot may have the id.
			if s, perr := snapshot.Parse(t.own.snaps.Path(tag.ID), data); perr != nil || s.UUID != tag.UUID || s.BaseManifestList != tag.BaseManifestList || s.DeltaManifestList != tag.DeltaManifestList {
				data = tag.Snapshot.JSON()
			}
		}
		if err != nil {
			return err
		}
		files = append(files, snapshot.BranchFile{Path: rel(t.own, t.own.snaps.Path(tag.ID)), Data: data})
	}
	ids, err := t.own.schemas.IDs(ctx)
	if err != nil {
		return err
	}
	found := false
	for _, id := range ids {
		if upTo >= 0 && id > upTo {
			continue
		}
		data, err := t.t.FIO.ReadFile(ctx, t.own.schemas.Path(id))
		if err != nil {
			return err
		}
		found = found || upTo < 0 || id == upTo
		files = append(files, snapshot.BranchFile{Path: rel(t.own, t.own.schemas.Path(id)), Data: data})
	}
	if !found {
		return errs.Corruptf("table %s: branch '%s' cannot be made: the schema of %s is missing in %s", t.t.Label, name, sourceText(o.Tag), t.own.schemas.Dir())
	}
	return snapshot.CreateBranch(ctx, t.t.FIO, t.t.Dir, name, files)
}

func sourceText(tag string) string {
	if tag == "" {
		return "the table"
	}
	return fmt.Sprintf("tag '%s'", tag)
}

// rel is a path below a branch's directory.
func rel(b *branch, p string) string { return strings.TrimPrefix(p, b.snaps.Dir()+"/") }

// branchOptions are the options of a table that name other branches.
var branchOptions = []*schema.Option[string]{schema.OptFallbackBranch, schema.OptPrimaryBranch}

// chainOptions are those of a chain table.
var chainOptions = []*schema.Option[string]{schema.OptFallbackSnapshot, schema.OptFallbackDelta}

// DeleteBranch removes a branch: its snapshots, tags and schemas. The files that they name
// stay until the cleaning of orphan files. A branch that the table's options name is refused.
func (t *Table) DeleteBranch(ctx context.Context, name string) error {
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := t.mustExist(ctx, name); err != nil {
		return err
	}
	s, err := t.schema(ctx)
	if err != nil {
		return err
	}
	named := branchOptions
	if schema.OptChainTable.Value(s.Options) {
		named = chainOptions
	}
	for _, o := range named {
		if o.Value(s.Options) == name {
			return errs.Invalidf("Cannot delete branch '%s' because it is configured as '%s'. Unset '%s' first.", name, o.Key(), o.Key())
		}
	}
	line, err := snapshot.LockBranch(ctx, t.t.FIO, t.t.Dir, name)
	if err != nil {
		return err
	}
	defer line()
	return snapshot.DropBranch(ctx, t.t.FIO, t.t.Dir, name)
}

// mustExist refuses main and branches that do not exist.
func (t *Table) mustExist(ctx context.Context, name string) error {
	if name == snapshot.MainBranch {
		return errs.Invalidf("Branch name '%s' is the default branch and cannot be used.", name)
	}
	if strings.TrimSpace(name) == "" {
		return snapshot.BranchNotFound(name)
	}
	ok, err := snapshot.BranchExists(ctx, t.t.FIO, t.t.Dir, name)
	if err == nil && !ok {
		err = snapshot.BranchNotFound(name)
	}
	return err
}

// RenameBranch renames a branch. Options that name it are not changed: the table then reads as without them.
func (t *Table) RenameBranch(ctx context.Context, from, to string) error {
	unlock, err := t.lockRefs(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	line, err := snapshot.LockBranch(ctx, t.t.FIO, t.t.Dir, from)
	if err != nil {
		return err
	}
	defer line()
	return snapshot.RenameBranch(ctx, t.t.FIO, t.t.Dir, from, to)
}
