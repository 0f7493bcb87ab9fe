package inventory

import (
	"context"
	"time"

	"github.com/tributarydb/tributary/storage/catalog"
	"github.com/tributarydb/tributary/storage/fileio"
	"github.com/tributarydb/tributary/storage/maintain"
	"github.com/tributarydb/tributary/storage/schema"
)

// Clean removes the orphan files of all tables of a warehouse, whatever their age.
func Clean(ctx context.Context, fio fileio.FileIO, warehouse string) error {
	cat := catalog.NewFilesystem(fio, warehouse, &schema.Cache{})
	dbs, err := cat.Databases(ctx)
	if err != nil {
		return err
	}
	later := time.Now().Add(2 * time.Hour)
	limit := later.Add(-time.Hour)
	for _, db := range dbs {
		names, err := cat.Tables(ctx, db)
		if err != nil {
			return err
		}
		for _, n := range names {
			dir, err := cat.TableDir(db, n)
			if err != nil {
				return err
			}
			m := maintain.New(maintain.Target{FIO: fio, Dir: dir, Label: db + "." + n, Clock: func() time.Time { return later }})
			if _, err := m.RemoveOrphanFiles(ctx, maintain.OrphanOptions{OlderThan: &limit}); err != nil {
				return err
			}
		}
	}
	_, err = cat.RemoveDropped(ctx, "", limit, false)
	return err
}
