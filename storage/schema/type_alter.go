package schema

import (
	"slices"
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
)

func (c *alteration) changeType(ch ChangeType) error {
	name := ch.Path[len(ch.Path)-1]
	if len(ch.Path) == 1 {
		switch i := c.Index(name); {
		case slices.Contains(c.old.PartitionKeys, name):
			return errs.Invalidf("Cannot update partition column: [%s]", name)
		case slices.Contains(c.old.PrimaryKeys, name):
			return errs.Invalidf("Cannot update primary key")
		case c.old.keyIndexed(name):
			return errs.Invalidf("Cannot update type of primary-key index column: [%s]", name)
		case i >= 0 && (IsBlobField(c.Fields[i].Type) || IsBlobField(ch.Type)):
			return errs.Invalidf("Cannot change column type involving BLOB: [%s] %s -> %s", name, c.Fields[i].Type, ch.Type)
		}
	}
	return c.edit(ch.Path, func(f *Field) error {
		t := ch.Type
		if ch.KeepNullability {
			t = t.WithNotNull(f.Type.NotNull)
		} else if err := c.checkNullability(ch.Path, f.Type, !t.NotNull); err != nil {
			return err
		}
		if !convertible(f.Type, t, strings.EqualFold(c.old.Options["disable-explicit-type-casting"], "true")) {
			return errs.Invalidf("Column type %s[%s] cannot be converted to %s without losing information.", f.Name, f.Type, t)
		}
		next := c.HighestFieldID + 1
		f.Type = renumber(t, &next)
		c.HighestFieldID = next - 1
		return nil
	})
}

// checkNullability refuses NOT NULL for a column that may have NULLs. Options count as they were before the statement.
func (c *alteration) checkNullability(path []string, t *Type, nullable bool) error {
	blocked := true
	if v, ok := c.old.Options["alter-column-null-to-not-null.disabled"]; ok {
		blocked = strings.EqualFold(v, "true")
	}
	if !nullable && !t.NotNull && blocked {
		return errs.Invalidf("Cannot update column type from nullable to non nullable for %s. You can set table configuration option "+
			"'alter-column-null-to-not-null.disabled' = 'false' to allow converting null columns to not null", strings.Join(path, "."))
	}
	return nil
}

func (c *alteration) changeNullability(ch ChangeNullability) error {
	if ch.Nullable && len(ch.Path) == 1 && slices.Contains(c.old.PrimaryKeys, ch.Path[0]) {
		return errs.Invalidf("Cannot change nullability of primary key")
	}
	return c.edit(ch.Path, func(f *Field) error {
		if err := c.checkNullability(ch.Path, f.Type, ch.Nullable); err != nil {
			return err
		}
		f.Type = f.Type.WithNotNull(!ch.Nullable)
		return nil
	})
}

// families of types in the table of allowed type changes (section 4.3 of the SQL surface).
func isText(r Root) bool      { return r == Char || r == Varchar }
func isBytes(r Root) bool     { return r == Binary || r == Varbinary }
func isInteger(r Root) bool   { return r >= TinyInt && r <= BigInt }
func isNumber(r Root) bool    { return isInteger(r) || r == Float || r == Double || r == Decimal }
func isTimestamp(r Root) bool { return r == Timestamp || r == TimestampLTZ }

// convertible reports whether a column may change its type: DataTypeCasts allows it, and CastExecutors has a cast. Nested types do not
// become texts: Flink does not let them, and old files are not read so.
func convertible(from, to *Type, implicitOnly bool) bool {
	f, t := from.Root, to.Root
	if implicitOnly && !from.NotNull && to.NotNull {
		return false
	}
	var implicit, explicit bool
	switch {
	case t == Char:
		implicit, explicit = f == Char, textCast(from, to)
	case t == Varchar:
		implicit, explicit = isText(f), textCast(from, to)
	case t == Boolean:
		explicit = isText(f) || isInteger(f)
	case t == Binary:
		implicit, explicit = f == Binary, f == Varbinary || isText(f)
	case t == Varbinary:
		implicit, explicit = isBytes(f), isText(f)
	case t == Int || t == BigInt:
		implicit, explicit = isInteger(f) && f <= t, isNumber(f) || isText(f) || f == Boolean || isTimestamp(f)
	case isInteger(t):
		implicit, explicit = isInteger(f) && f <= t, isNumber(f) || isText(f) || f == Boolean
	case t == Float:
		implicit, explicit = isInteger(f) || f == Decimal || f == Float, isNumber(f) || isText(f) || f == Boolean
	case t == Double || t == Decimal:
		implicit, explicit = isNumber(f), isText(f) || f == Boolean
	case t == Date:
		implicit, explicit = f == Timestamp, f == TimestampLTZ || isText(f)
	case t == Time:
		implicit, explicit = f == Timestamp, f == TimestampLTZ || isText(f)
	case isTimestamp(t):
		implicit, explicit = isTimestamp(f), f == Date || f == Time || isText(f) || f == Int || f == BigInt
	}
	return implicit || explicit && !implicitOnly
}

// textCast reports whether values of a type become texts. Dates and times become STRING only, whatever a shorter text would hold.
func textCast(from, to *Type) bool {
	f := from.Root
	if f == Date || f == Time || isTimestamp(f) {
		return to.Root == Varchar && to.Length == MaxLength
	}
	return isText(f) || isBytes(f) || isNumber(f) || f == Boolean
}
