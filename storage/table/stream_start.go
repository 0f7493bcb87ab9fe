package table

import (
	"context"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
	"github.com/tributarydb/tributary/storage/snapshot"
)

// Options of streaming reads. The first is our own: in Paimon's engines it is the kind of job that says so.
const (
	optStreaming       = "streaming"
	optIgnoreProgress  = "consumer.ignore-progress"
	optStreamOverwrite = "streaming-read-overwrite"
	optStreamAppendOvw = "streaming-read-append-overwrite"
)

// Streaming reports whether the statement's options ask for a read that follows the branch: it shows a state, then
// the changes of every new snapshot, and never ends by itself.
func (t *Table) Streaming() (bool, error) {
	v, ok := t.opts.Dynamic[optStreaming]
	if !ok {
		return false, nil
	}
	on, err := schema.ParseBool(v)
	if err != nil {
		return false, errs.Invalidf("option '%s' has the value '%s': %w", optStreaming, v, err)
	}
	return on, nil
}

// streamStart says where a streaming read begins (section 15.1 of the format).
type streamStart struct {
	// full is the snapshot whose full state comes first; nil = no row.
	full *snapshot.Snapshot
	// createdAfter leaves older files out of the full state; nil = none.
	createdAfter *int64
	// next is the first snapshot whose changes are read.
	next int64
}

// streamStart resolves the options of a streaming read.
func (r *resolver) streamStart(ctx context.Context) (streamStart, error) {
	s := streamStart{next: snapshot.FirstID}
	if r.pinned != nil {
		s.next = r.pinned.ID + 1
	}
	if started, err := r.consumerStart(ctx, &s); started || err != nil {
		return s, err
	}
	mode, err := scanMode(r.opts)
	if err != nil {
		return s, err
	}
	after := func(full *snapshot.Snapshot) (streamStart, error) {
		s.full = full
		if full != nil {
			s.next = full.ID + 1
		}
		return s, nil
	}
	switch mode {
	case "latest-full":
		return after(r.pinned)
	case "latest":
		return s, nil
	case "compacted-full":
		full, err := r.compacted(ctx)
		if err != nil {
			return s, err
		}
		return after(full)
	case "from-timestamp":
		at, err := r.timestampOption()
		if err != nil {
			return s, err
		}
		return r.fromFirst(ctx, s, at)
	case "from-file-creation-time":
		at, err := schema.OptScanFileCreation.Get(r.opts)
		s.createdAfter = &at
		if err != nil {
			return s, err
		}
		return after(r.pinned)
	case "from-creation-timestamp":
		st, err := r.fromCreation(ctx)
		if err != nil {
			return s, err
		}
		if st.CreatedAfter == nil {
			return r.fromFirst(ctx, s, schema.OptScanCreation.Value(r.opts))
		}
		s.createdAfter = st.CreatedAfter
		return after(st.Snapshot)
	case "from-snapshot", "from-snapshot-full":
		at, err := r.fromSnapshot(ctx)
		if err != nil || mode == "from-snapshot-full" {
			if err != nil {
				return s, err
			}
			return after(at)
		}
		s.next = at.ID
		return s, nil
	}
	return s, errs.Invalidf("table %s: a streaming read cannot have 'scan.mode' = '%s': it has no end", r.label, mode)
}

// fromFirst begins with the changes of the first snapshot that is not older than a time.
func (r *resolver) fromFirst(ctx context.Context, s streamStart, millis int64) (streamStart, error) {
	first, err := r.mgr.AtOrAfter(ctx, millis)
	if err == nil && first != nil {
		s.next = first.ID
	}
	return s, err
}

// consumerStart begins where the consumer of option consumer-id has got to, if it is known already.
func (r *resolver) consumerStart(ctx context.Context, s *streamStart) (bool, error) {
	id := schema.OptConsumerID.Value(r.opts)
	if id == "" {
		return false, nil
	}
	if v, ok := r.opts[optIgnoreProgress]; ok {
		ignore, err := schema.ParseBool(v)
		if err != nil {
			return false, errs.Invalidf("option '%s' has the value '%s': %w", optIgnoreProgress, v, err)
		}
		if ignore {
			return false, nil
		}
	}
	c, err := r.mgr.Consumer(ctx, id)
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	earliest, err := r.mgr.EarliestID(ctx)
	if err != nil {
		return false, err
	}
	s.next = max(c.NextSnapshot, earliest)
	return true, nil
}
