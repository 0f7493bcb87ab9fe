package snapshot

import (
	"context"
	"path"
	"strings"

	"github.com/google/uuid"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
)

// CheckBranchName refuses names that a new branch cannot have (section 13.1).
func CheckBranchName(name string) error {
	switch {
	case name == MainBranch:
		return errs.Invalidf("Branch name '%s' is the default branch and cannot be used.", name)
	case strings.TrimSpace(name) == "":
		return errs.Invalidf("Branch name '%s' is blank.", name)
	case strings.Trim(name, "0123456789") == "":
		return errs.Invalidf("Branch name cannot be pure numeric string but is '%s'.", name)
	case strings.ContainsAny(name, "/\x00"):
		return errs.Invalidf("Branch name '%s' is not possible: it is part of a file name and must not contain '/'", name)
	}
	return nil
}

// BranchTaken is the error for a branch that is there already.
func BranchTaken(name string) error {
	return errs.Existsf("Branch name '%s' already exists.", name)
}

// BranchFile is one file of a new branch, its path relative to the branch's directory.
type BranchFile struct {
	Path string
	Data []byte
}

// hiddenBranchDir is the directory in which a branch is built, and to which one
// that is dropped is moved first. No reader takes it for a branch.
func hiddenBranchDir(tableDir, branch string) string {
	return path.Join(tableDir, "branch", "."+branchPrefix+branch+"."+uuid.NewString()+".tmp")
}

// CreateBranch makes a branch of its files: they are written to a hidden
// directory, which then gets the branch's name. The branch appears whole or not at all.
// errs.Exists where there is one of the name.
func CreateBranch(ctx context.Context, fio fileio.FileIO, tableDir, branch string, files []BranchFile) (err error) {
	if err := CheckBranchName(branch); err != nil {
		return err
	}
	ok, err := BranchExists(ctx, fio, tableDir, branch)
	if err != nil {
		return err
	}
	if ok {
		return BranchTaken(branch)
	}
	hidden := hiddenBranchDir(tableDir, branch)
	defer func() {
		if err != nil && !errs.Is(err, errs.Uncertain) {
			_ = fio.DeleteAll(context.WithoutCancel(ctx), hidden)
		}
	}()
	for _, f := range files {
		if err := fio.Overwrite(ctx, path.Join(hidden, f.Path), f.Data); err != nil {
			return err
		}
	}
	err = fileio.Move(ctx, fio, hidden, BranchDir(tableDir, branch))
	if errs.Is(err, errs.Conflict) {
		return BranchTaken(branch)
	}
	return err
}

// DropBranch removes a branch's directory: first out of sight, then its files. The files
// that the branch's snapshots name stay.
func DropBranch(ctx context.Context, fio fileio.FileIO, tableDir, branch string) error {
	if err := mustExist(ctx, fio, tableDir, branch); err != nil {
		return err
	}
	hidden := hiddenBranchDir(tableDir, branch)
	if err := fileio.Move(ctx, fio, BranchDir(tableDir, branch), hidden); err != nil {
		if errs.Is(err, errs.NotFound) {
			return BranchNotFound(branch)
		}
		return err
	}
	// What stays of it is hidden, and removed by the cleaning of orphan files.
	_ = fileio.RemoveTree(context.WithoutCancel(ctx), fio, hidden)
	return nil
}

// RenameBranch renames a branch's directory.
func RenameBranch(ctx context.Context, fio fileio.FileIO, tableDir, from, to string) error {
	if from == MainBranch {
		return errs.Invalidf("Cannot rename the main branch.")
	}
	if err := mustExist(ctx, fio, tableDir, from); err != nil {
		return err
	}
	if err := CheckBranchName(to); err != nil {
		return err
	}
	ok, err := BranchExists(ctx, fio, tableDir, to)
	if err != nil {
		return err
	}
	if ok {
		return BranchTaken(to)
	}
	err = fileio.Move(ctx, fio, BranchDir(tableDir, from), BranchDir(tableDir, to))
	switch {
	case errs.Is(err, errs.Conflict):
		return BranchTaken(to)
	case errs.Is(err, errs.NotFound):
		return BranchNotFound(from)
	}
	return err
}

// mustExist is errs.NotFound where a branch other than main does not exist.
func mustExist(ctx context.Context, fio fileio.FileIO, tableDir, branch string) error {
	if branch == "" {
		return BranchNotFound(branch)
	}
	ok, err := BranchExists(ctx, fio, tableDir, branch)
	if err == nil && !ok {
		return BranchNotFound(branch)
	}
	return err
}
