package snapshot

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/fileio"
)

// JSON returns the content of the tag's file: the snapshot's, then the times of a retention.
func (t *Tag) JSON() []byte {
	var w marshal
	t.Snapshot.write(&w)
	if t.CreateMicros != nil {
		w.key("tagCreateTime")
		w.buf = appendDateTime(w.buf, *t.CreateMicros)
	}
	if t.Retained != nil {
		w.key("tagTimeRetained")
		w.buf = append(w.buf, t.Retained.seconds()...)
	}
	return w.finish()
}

// appendDateTime writes a local date-time as Jackson does: the array of its
// parts, seconds and nanoseconds only as far as they are not 0.
func appendDateTime(dst []byte, micros int64) []byte {
	t := time.UnixMicro(micros).UTC()
	parts := []int{t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute()}
	switch {
	case t.Nanosecond() != 0:
		parts = append(parts, t.Second(), t.Nanosecond())
	case t.Second() != 0:
		parts = append(parts, t.Second())
	}
	dst = append(dst, '[')
	for i, p := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(p), 10)
	}
	return append(dst, ']')
}

// seconds is the span as Jackson writes a Duration: decimal seconds.
func (d Span) seconds() string {
	if d.Seconds == 0 && d.Nanos == 0 {
		return "0.0"
	}
	n := strconv.Itoa(int(d.Nanos))
	return strconv.FormatInt(d.Seconds, 10) + "." + strings.Repeat("0", 9-len(n)) + n
}

// SpanOf converts a duration that is not negative.
func SpanOf(d time.Duration) Span {
	return Span{Seconds: int64(d / time.Second), Nanos: int32(d % time.Second)}
}

// CheckTagName refuses names that a tag cannot have.
func CheckTagName(name string) error {
	if strings.TrimSpace(name) == "" {
		return errs.Invalidf("Tag name shouldn't be blank.")
	}
	if strings.ContainsAny(name, "/\x00") {
		return errs.Invalidf("Tag name '%s' is not possible: it is part of a file name and must not contain '/'", name)
	}
	return nil
}

// TagExists is the error for a tag that is there already.
func TagExists(name string) error { return errs.Existsf("Tag '%s' already exists.", name) }

// CreateTag writes the file of a new tag; errs.Exists where there is one of its name.
func (m *Manager) CreateTag(ctx context.Context, t *Tag) error {
	if err := CheckTagName(t.Name); err != nil {
		return err
	}
	return m.create(ctx, m.TagPath(t.Name), t.JSON(), TagExists(t.Name))
}

// create publishes a file that must not be there yet. Where the answer of storage
// is lost, the file is read again.
func (m *Manager) create(ctx context.Context, p string, data []byte, taken error) error {
	created, err := m.fio.PutIfAbsent(ctx, p, data)
	switch {
	case err == nil && created:
		return nil
	case err == nil:
		return taken
	}
	now, readErr := m.fio.ReadFile(context.WithoutCancel(ctx), p)
	switch {
	case readErr == nil && bytes.Equal(now, data):
		return nil
	case readErr == nil:
		return taken
	case errs.Is(readErr, errs.NotFound):
		return err
	}
	return errs.Uncertainf("%s may have been written or not: %w", p, err)
}

// ReplaceTag writes the file of a tag, over the one of its name.
func (m *Manager) ReplaceTag(ctx context.Context, t *Tag) error {
	if err := CheckTagName(t.Name); err != nil {
		return err
	}
	return fileio.Replace(ctx, m.fio, m.TagPath(t.Name), t.JSON())
}

// DeleteTag removes the file of a tag; a missing one is no error.
func (m *Manager) DeleteTag(ctx context.Context, name string) error {
	if err := CheckTagName(name); err != nil {
		return err
	}
	return fileio.Remove(ctx, m.fio, m.TagPath(name))
}

// RenameTag renames a tag: errs.NotFound where there is none, errs.Exists where the new name is taken.
func (m *Manager) RenameTag(ctx context.Context, from, to string) error {
	if err := CheckTagName(to); err != nil {
		return err
	}
	ok, err := m.HasTag(ctx, from)
	if err != nil {
		return err
	}
	if !ok {
		return errs.NotFoundf("Tag '%s' doesn't exist.", from)
	}
	if ok, err = m.HasTag(ctx, to); err != nil {
		return err
	}
	if ok {
		return TagExists(to)
	}
	err = fileio.Move(ctx, m.fio, m.TagPath(from), m.TagPath(to))
	switch {
	case errs.Is(err, errs.Conflict):
		return TagExists(to)
	case errs.Is(err, errs.NotFound):
		return errs.NotFoundf("Tag '%s' doesn't exist.", from)
	}
	return err
}

// ConsumerPath returns the path of a consumer's file.
func (m *Manager) ConsumerPath(id string) string { return m.dir + "/consumer/" + consumerPrefix + id }

// WriteConsumer records a consumer's progress.
func (m *Manager) WriteConsumer(ctx context.Context, c Consumer) error {
	if strings.TrimSpace(c.ID) == "" || strings.ContainsAny(c.ID, "/\x00") {
		return errs.Invalidf("Consumer id '%s' is not possible: it is part of a file name", c.ID)
	}
	var w marshal
	w.num("nextSnapshot", c.NextSnapshot)
	return fileio.Replace(ctx, m.fio, m.ConsumerPath(c.ID), w.finish())
}

// DeleteConsumer removes a consumer; a missing one is no error.
func (m *Manager) DeleteConsumer(ctx context.Context, id string) error {
	if strings.TrimSpace(id) == "" || strings.ContainsAny(id, "/\x00") {
		return nil
	}
	return fileio.Remove(ctx, m.fio, m.ConsumerPath(id))
}

// ConsumerTimes returns the time of the last progress of each consumer, by id.
func (m *Manager) ConsumerTimes(ctx context.Context) (map[string]time.Time, error) {
	infos, err := m.fio.List(ctx, m.dir+"/consumer")
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]time.Time{}
	for _, i := range infos {
		if id, ok := strings.CutPrefix(i.Name, consumerPrefix); ok && id != "" && !i.IsDir {
			out[id] = i.ModTime
		}
	}
	return out, nil
}

// DeleteSnapshot removes a snapshot's file, not what it names; a missing one is no error.
func (m *Manager) DeleteSnapshot(ctx context.Context, id int64) error {
	return fileio.Remove(ctx, m.fio, m.Path(id))
}

// RestoreSnapshot writes a snapshot's file anew, if it is not there.
func (m *Manager) RestoreSnapshot(ctx context.Context, s *Snapshot) error {
	_, err := m.fio.PutIfAbsent(ctx, m.Path(s.ID), s.JSON())
	return err
}

// DropLatestHint removes the hint of the newest snapshot, so that listing decides. A missing one is no error.
func (m *Manager) DropLatestHint(ctx context.Context) error {
	return m.fio.Delete(ctx, m.dir+"/snapshot/"+hintLatest)
}

// WriteChangelog keeps a snapshot that expires as a long-lived changelog (section 3.3).
func (m *Manager) WriteChangelog(ctx context.Context, s *Snapshot) error {
	return fileio.Replace(ctx, m.fio, m.ChangelogPath(s.ID), s.JSON())
}

// DeleteChangelog removes the file of a long-lived changelog; a missing one is no error.
func (m *Manager) DeleteChangelog(ctx context.Context, id int64) error {
	return fileio.Remove(ctx, m.fio, m.ChangelogPath(id))
}

// WriteChangelogHints records the oldest and the newest long-lived changelog, best
// effort; 0 leaves a hint as it is.
func (m *Manager) WriteChangelogHints(ctx context.Context, earliest, latest int64) {
	ctx = context.WithoutCancel(ctx)
	for _, h := range []struct {
		name string
		id   int64
	}{{hintEarliest, earliest}, {hintLatest, latest}} {
		if h.id > 0 {
			_ = m.fio.Overwrite(ctx, m.dir+"/changelog/"+h.name, strconv.AppendInt(nil, h.id, 10))
		}
	}
}

// DropChangelogHints removes the hints of a changelog directory that has become empty.
func (m *Manager) DropChangelogHints(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for _, name := range []string{hintLatest, hintEarliest} {
		_ = m.fio.Delete(ctx, m.dir+"/changelog/"+name)
	}
}
