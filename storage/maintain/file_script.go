package maintain

import (
	"context"
	"errors"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
)

// fileOp changes one small file; nil data is no file.
type fileOp struct {
	path     string
	old, new []byte
}

func put(ctx context.Context, fio fileio.FileIO, path string, data []byte) error {
	if data == nil {
		return fio.Delete(ctx, path)
	}
	return fio.Overwrite(ctx, path, data)
}

// runScript runs the changes in order. Where one fails, those made are undone
// in reverse order; if that fails as well, the error is errs.Uncertain and says what to do.
func runScript(ctx context.Context, fio fileio.FileIO, ops []fileOp, repeat string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// It is finished or undone, whatever becomes of the statement.
	ctx = context.WithoutCancel(ctx)
	for i := range ops {
		err := put(ctx, fio, ops[i].path, ops[i].new)
		if err == nil {
			continue
		}
		var failed error
		for ; i >= 0; i-- {
			if e := put(ctx, fio, ops[i].path, ops[i].old); e != nil {
				// Once more: nothing is worse than a state half-way.
				if e = put(ctx, fio, ops[i].path, ops[i].old); e != nil {
					failed = errors.Join(failed, e)
				}
			}
		}
		if failed != nil {
			return errs.Uncertainf("%s: %w", repeat, errors.Join(err, failed))
		}
		return err
	}
	return nil
}
