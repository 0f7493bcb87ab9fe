package sqlengine

import (
	"fmt"

	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/storage/errs"
)

var _ planner.BackgroundCatalog = (*warehouse)(nil)

// BackgroundWork lists the compactions that no statement waits for.
func (w *warehouse) BackgroundWork() []planner.BackgroundWork {
	if w.compactions == nil {
		return nil
	}
	var out []planner.BackgroundWork
	for _, j := range w.compactions.Jobs() {
		buckets := "1 bucket"
		if j.Buckets != 1 {
			buckets = fmt.Sprintf("%d buckets", j.Buckets)
		}
		out = append(out, planner.BackgroundWork{ID: j.ID, Database: j.Database, Info: "compaction of " + buckets + " of " + j.Table, State: j.State, Since: j.Since})
	}
	return out
}

// PauseCompactions lets no compaction begin, or lets them begin again.
func (w *warehouse) PauseCompactions(pause bool) error {
	switch {
	case w.compactions == nil && pause:
		return errs.Unsupportedf("compactions cannot be paused: this server runs them inside the statements that write ('compaction-workers' is 0)")
	case w.compactions == nil:
	case pause:
		w.compactions.Pause()
	default:
		w.compactions.Resume()
	}
	return nil
}

// leave ends the compactions of tables in a directory that is about to go.
func (w *warehouse) leave(dir string, err error) {
	if err == nil && w.compactions != nil {
		w.compactions.Leave(dir)
	}
}
