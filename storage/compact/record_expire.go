package compact

import (
	"context"

	"github.com/tributarydb/tributary/storage/scan"
)

// expires reports whether a file's statistics say that some of its rows have expired (RecordLevelExpire.isExpireFile).
func (o *tableOptions) expires(ctx context.Context, src *scan.Source, f *scan.File) (bool, error) {
	if o.expiry == nil {
		return false, nil
	}
	stats, err := src.FileStats(ctx, f)
	if err != nil {
		return false, err
	}
	st, ok := stats(o.expiry.Column)
	return ok && st.HasBounds && o.expiry.Scalar(st.Min), nil
}

// expired lists the files of runs that hold expired rows by their statistics.
func (o *tableOptions) expired(ctx context.Context, src *scan.Source, runs []run) (map[*scan.File]bool, error) {
	out := map[*scan.File]bool{}
	for _, r := range runs {
		for _, f := range r.files {
			old, err := o.expires(ctx, src, f)
			if err != nil {
				return nil, err
			}
			if old {
				out[f] = true
			}
		}
	}
	return out, nil
}
