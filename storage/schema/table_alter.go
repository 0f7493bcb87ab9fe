package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
)

// Apply returns the schema that changes make of s, with the next id
// (SchemaManager.generateTableSchema). Errors are errs.Invalid, errs.NotFound or errs.Exists with Paimon's words.
func (s *TableSchema) Apply(changes []Change, ctx Context) (*TableSchema, error) {
	c := *s
	c.Version, c.ID, c.TimeMillis = CurrentVersion, s.ID+1, ctx.now()
	c.Fields, c.Options, c.OptionKeys = slices.Clone(s.Fields), maps.Clone(s.Options), slices.Clone(s.OptionKeys)
	if c.Options == nil {
		c.Options = map[string]string{}
	}
	c.PartitionKeys, c.PrimaryKeys = slices.Clone(s.PartitionKeys), slices.Clone(s.PrimaryKeys)
	c.HighestFieldID = max(s.HighestFieldID, HighestID(s.Fields))
	a := &alteration{TableSchema: &c, old: s, ctx: ctx}
	for _, ch := range changes {
		if err := a.apply(ch); err != nil {
			return nil, err
		}
	}
	c.OptionKeys = copyHashMap(alteredKeys(s.OptionKeys, c.OptionKeys)).keys()
	if err := c.takeKeys(); err != nil {
		return nil, err
	}
	c.keysNotNull()
	return &c, c.Validate(ctx)
}

// alteredKeys is the order of a java.util.HashMap of the old keys to which new ones were added and from which some were taken.
func alteredKeys(old, now []string) []string {
	m := copyHashMap(old)
	for _, k := range now {
		m.put(k)
	}
	for _, k := range old {
		if !slices.Contains(now, k) {
			m.remove(k)
		}
	}
	return m.keys()
}

// alteration is a schema that changes are applied to.
type alteration struct {
	*TableSchema
	old *TableSchema
	ctx Context
}

func (c *alteration) apply(ch Change) error {
	switch ch := ch.(type) {
	case SetOption:
		return c.setOption(ch.Key, ch.Value)
	case ResetOption:
		return c.resetOption(ch.Key)
	case SetComment:
		c.Comment, c.HasComment = "", ch.Comment != nil
		if ch.Comment != nil {
			c.Comment = *ch.Comment
		}
		return nil
	case AddColumn:
		return c.addColumn(ch)
	case RenameColumn:
		return c.renameColumn(ch)
	case DropColumn:
		return c.dropColumn(ch)
	case ChangeType:
		return c.changeType(ch)
	case ChangeNullability:
		return c.changeNullability(ch)
	case ChangeComment:
		return c.edit(ch.Path, func(f *Field) error { f.Description = ch.Comment; return nil })
	case ChangeDefault:
		return c.edit(ch.Path, func(f *Field) error {
			f.Default = ch.Default
			return checkDefault(c.ctx, *f)
		})
	case ChangePosition:
		return c.move(ch.Move)
	case DropPrimaryKey:
		if c.ctx.HasSnapshot {
			return errs.Invalidf("Cannot drop primary keys on a non-empty table.")
		}
		c.PrimaryKeys = nil
		return nil
	}
	return errs.Unsupportedf("the schema change %T is not known", ch)
}

func notSupported(key string) error { return errs.Invalidf("Change '%s' is not supported yet.", key) }

// unchanged reports whether an option has the value already (SchemaManager.isUnchangedNormalizedKey). Values are compared with
// those before the statement.
func (c *alteration) unchanged(key, value string) bool {
	was, had := c.old.Options[key]
	switch {
	case key == "type" && had:
		return strings.EqualFold(was, value)
	case key == "type":
		return strings.EqualFold(OptTableType.Default(), value)
	case had:
		return was == value
	case key == optPrimaryKey:
		return slices.Equal(commaList(value), c.old.PrimaryKeys)
	case key == optPartition:
		return slices.Equal(commaList(value), c.old.PartitionKeys)
	}
	return false
}

func (c *alteration) setOption(key, value string) error {
	switch {
	case key == optComment:
		c.Comment, c.HasComment = value, true
		return nil
	case strings.EqualFold(key, optPath):
		return errs.Invalidf("Change path is not supported yet.")
	case c.unchanged(key, value):
		return nil
	case key == "type":
		return notSupported(key)
	}
	if err := checkGiven(key, value); err != nil {
		return err
	}
	if c.ctx.HasSnapshot {
		if err := c.checkSet(key, value); err != nil {
			return err
		}
	}
	c.putOption(key, value)
	return nil
}

// oldFlag is a flag before the statement, as Java's Boolean.parseBoolean reads it.
func (c *alteration) oldFlag(key string) bool { return strings.EqualFold(c.old.Options[key], "true") }

// checkSet refuses values that a table with data cannot get (SchemaManager.checkAlterTableOption).
func (c *alteration) checkSet(key, value string) error {
	to := strings.EqualFold(value, "true")
	switch {
	case slices.Contains(immutableOptions, key):
		return notSupported(key)
	case key == "bucket":
		switch {
		case c.old.Bucket() == -1:
			return errs.Invalidf("Cannot change bucket when it is -1.")
		case value == "-1":
			return errs.Invalidf("Cannot change bucket to -1.")
		}
	case key == "deletion-vectors.enabled" && c.oldFlag(key) != to && !c.oldFlag("deletion-vectors.modifiable"):
		return errs.Invalidf("Cannot change deletion vectors mode from %t to %t. If modifying table deletion-vectors mode without full-compaction, this may result in data duplication. "+
			"If you are confident, you can set table option 'deletion-vectors.modifiable' = 'true' to allow deletion vectors modification.", c.oldFlag(key), to)
	case (key == "ignore-delete" || key == "ignore-update-before") && c.oldFlag(key) && !to:
		return errs.Invalidf("Cannot change %s from true to false.", key)
	case key == "clustering.columns":
		if _, set := c.old.Options["pk-clustering-override"]; set {
			return errs.Invalidf("Cannot change clustering.columns when pk-clustering-override enabled.")
		}
	}
	return nil
}

// CheckDynamic reports whether an option may be given for one statement: its value has to be acceptable, and it must not be one
// that decides what the rows in the table's files mean (AbstractFileStoreTable.checkImmutability).
func (s *TableSchema) CheckDynamic(key, value string) error {
	if err := CheckOption(key, value); err != nil {
		return err
	}
	c := alteration{TableSchema: s, old: s}
	switch {
	case c.unchanged(key, value):
		return nil
	case key == "type":
		return notSupported(key)
	}
	return c.checkSet(key, value)
}

func (c *alteration) resetOption(key string) error {
	switch key {
	case optComment:
		c.Comment, c.HasComment = "", false
		return nil
	case "type":
		return notSupported(key)
	case optPrimaryKey, optPartition: // Paimon takes it and changes nothing
		if c.ctx.HasSnapshot {
			return notSupported(key)
		}
		return errs.Invalidf("'%s' is no option of the table and cannot be reset; a primary key goes with ALTER TABLE … DROP PRIMARY KEY, partitions stay", key)
	}
	if c.ctx.HasSnapshot {
		if err := c.checkReset(key); err != nil {
			return err
		}
	}
	c.removeOption(key)
	return nil
}

// checkReset refuses to take options away that a table with data needs (SchemaManager.checkResetTableOption).
func (c *alteration) checkReset(key string) error {
	_, override := c.old.Options["pk-clustering-override"]
	switch {
	case slices.Contains(immutableOptions, key):
		return notSupported(key)
	case key == "bucket":
		return errs.Invalidf("Cannot reset bucket.")
	case key == "clustering.columns" && override:
		return errs.Invalidf("Cannot reset clustering.columns when pk-clustering-override enabled.")
	case key == "deletion-vectors.enabled" && c.oldFlag(key) && !c.oldFlag("deletion-vectors.modifiable"): // Paimon forgets to check this
		return errs.Invalidf("Cannot change deletion vectors mode from true to false. If modifying table deletion-vectors mode without full-compaction, this may result in data duplication. " +
			"If you are confident, you can set table option 'deletion-vectors.modifiable' = 'true' to allow deletion vectors modification.")
	}
	return nil
}
