package read

import (
	"context"

	"github.com/tributarydb/tributary/storage/relation"
)

// Divide divides a merge by key ranges whatever its size, for tests.
func Divide(ctx context.Context, m relation.Morsel) ([]relation.Morsel, error) {
	if s, ok := m.(*splitMorsel); ok {
		return s.divide(ctx)
	}
	return []relation.Morsel{m}, nil
}
