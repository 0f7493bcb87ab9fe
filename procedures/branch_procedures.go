package procedures

import (
	"context"
	"strings"

	"github.com/tributarydb/tributary/storage/maintain"
)

func init() {
	defineWhole("create_branch", "table, branch|branch_name, tag|tag_name?, ignoreIfExists|ignore_if_exists?", createBranch)
	defineWhole("delete_branch", "table, branch|branch_name", deleteBranch)
	defineWhole("rename_branch", "table, from_branch|fromBranch, to_branch|toBranch", renameBranch)
	defineWhole("fast_forward", "table, branch|branch_name", fastForward)
}

// createBranch has the forms (t, b), (t, b, tag), (t, b, bool) and (t, b, tag, bool).
func createBranch(ctx context.Context, c *call) (*result, error) {
	tag, flag := c.text("tag"), c.at("ignoreIfExists")
	if flag == nil && (strings.EqualFold(tag, "true") || strings.EqualFold(tag, "false")) {
		given := tag
		tag, flag = "", &given
	}
	ignore := flag != nil && strings.EqualFold(strings.TrimSpace(*flag), "true")
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := m.CreateBranch(ctx, c.text("branch"), maintain.BranchOptions{Tag: tag, IgnoreIfExists: ignore}); err != nil {
		return nil, err
	}
	return success(), nil
}

func deleteBranch(ctx context.Context, c *call) (*result, error) {
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, b := range list(c.text("branch")) {
		if err := m.DeleteBranch(ctx, b); err != nil {
			return nil, err
		}
	}
	return success(), nil
}

func renameBranch(ctx context.Context, c *call) (*result, error) {
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := m.RenameBranch(ctx, c.text("from_branch"), c.text("to_branch")); err != nil {
		return nil, err
	}
	return success(), nil
}

func fastForward(ctx context.Context, c *call) (*result, error) {
	m, _, err := c.maintain(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := m.FastForward(ctx, c.text("branch")); err != nil {
		return nil, err
	}
	return success(), nil
}
