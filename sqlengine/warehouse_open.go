package sqlengine

import (
	"context"

	"github.com/tributarydb/tributary/sqlengine/planner"
	"github.com/tributarydb/tributary/storage/errs"
)

// openWarehouse opens the catalog of a warehouse folder.
func openWarehouse(_ context.Context, warehouse string) (planner.Catalog, func() error, error) {
	return nil, nil, errs.Unsupportedf("warehouse %s: this build reads no warehouses", warehouse)
}
