package procedures

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tributarydb/tributary/storage/maintain"
	"github.com/tributarydb/tributary/storage/snapshot"
)

func init() {
	const made = "table, tag|tag_name, snapshot_id|snapshot BIGINT?, time_retained?"
	define("create_tag", made, createTag)
	define("replace_tag", made, replaceTag)
	define("create_tag_from_timestamp", "table, tag|tag_name, timestamp BIGINT, time_retained?", tagFromTimestamp)
	define("create_tag_from_watermark", "table, tag|tag_name, watermark BIGINT, time_retained?", tagFromWatermark)
	define("rename_tag", "table, tagName|tag|tag_name, targetTagName|target_tag|target_tag_name", renameTag)
	define("delete_tag", "table, tag|tag_name", deleteTag)
	define("expire_tags", "table, older_than?", expireTags)
}

func (c *call) tagOptions() (o maintain.TagOptions, err error) {
	o.Retained, err = c.duration("time_retained")
	return o, err
}

func createTag(ctx context.Context, c *call) (*result, error)  { return c.makeTag(ctx, false) }
func replaceTag(ctx context.Context, c *call) (*result, error) { return c.makeTag(ctx, true) }

func (c *call) makeTag(ctx context.Context, replace bool) (*result, error) {
	o, err := c.tagOptions()
	if err != nil {
		return nil, err
	}
	if o.Snapshot, err = c.integer("snapshot_id"); err != nil {
		return nil, err
	}
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	if replace {
		_, err = m.ReplaceTag(ctx, c.text("tag"), o)
	} else {
		_, err = m.CreateTag(ctx, c.text("tag"), o)
	}
	if err != nil {
		return nil, err
	}
	return success(), nil
}

func tagFromTimestamp(ctx context.Context, c *call) (*result, error) {
	return c.tagFrom(ctx, "timestamp", (*maintain.Table).CreateTagFromTimestamp)
}

func tagFromWatermark(ctx context.Context, c *call) (*result, error) {
	return c.tagFrom(ctx, "watermark", (*maintain.Table).CreateTagFromWatermark)
}

func (c *call) tagFrom(ctx context.Context, argument string, create func(*maintain.Table, context.Context, string, int64, maintain.TagOptions) (*snapshot.Tag, error)) (*result, error) {
	at, err := c.integer(argument)
	if err != nil {
		return nil, err
	}
	o, err := c.tagOptions()
	if err != nil {
		return nil, err
	}
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	t, err := create(m, ctx, c.text("tag"), *at, o)
	if err != nil {
		return nil, err
	}
	var watermark *string
	if t.Watermark != nil {
		s := strconv.FormatInt(*t.Watermark, 10)
		watermark = &s
	}
	return newResult("tagName, snapshot BIGINT, commit_time BIGINT, watermark").add(t.Name, t.ID, t.TimeMillis, watermark), nil
}

func renameTag(ctx context.Context, c *call) (*result, error) {
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	from, to := c.text("tagName"), c.text("targetTagName")
	if err := m.RenameTag(ctx, from, to); err != nil {
		return nil, err
	}
	return newResult("result").add(fmt.Sprintf("Rename [%s] to [%s] successfully.", from, to)), nil
}

func deleteTag(ctx context.Context, c *call) (*result, error) {
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, t := range list(c.text("tag")) {
		if _, err := m.DeleteTag(ctx, t); err != nil {
			return nil, err
		}
	}
	return success(), nil
}

func expireTags(ctx context.Context, c *call) (*result, error) {
	older, err := c.time("older_than", c.opts.Zone)
	if err != nil {
		return nil, err
	}
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	gone, err := m.ExpireTags(ctx, older)
	if err != nil {
		return nil, err
	}
	if len(gone) == 0 {
		gone = []string{"No expired tags."}
	}
	return lines("expired_tags", gone), nil
}
