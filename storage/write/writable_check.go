package write

import (
	"strings"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/schema"
)

// unwritable are options under which a data file written here would damage the
// table, or be missing from what others keep beside it (section 16).
var unwritable = []struct{ option, why, remedy string }{
	{"data-evolution.enabled", "column files of row ranges are not written", "write it with Paimon"},
	{"sequence.snapshot-ordering", "sequence numbers would not be those of snapshots", "write it with Paimon, or use sequence.field"},
	{"pk-clustering-override", "files must be sorted by clustering.columns", "write it with Paimon"},
}

// CheckWritable refuses tables that cannot be written correctly: errs.Unsupported, naming option and remedy.
func CheckWritable(label string, s *schema.TableSchema) error {
	for _, u := range unwritable {
		v, ok := s.Options[u.option]
		if !ok {
			continue
		}
		on, err := schema.ParseBool(v)
		if err != nil {
			return errs.Invalidf("table %s: option '%s' has the value '%s': %w", label, u.option, v, err)
		}
		if on {
			return errs.Unsupportedf("table %s cannot be written: it has option '%s' = '%s', and %s; %s", label, u.option, v, u.why, u.remedy)
		}
	}
	refuse := func(option, why string) error {
		return errs.Unsupportedf("table %s cannot be written: it has option '%s' = '%s', and %s; write it with Paimon, or RESET the option", label, option, s.Options[option], why)
	}
	for _, k := range s.OptionKeys {
		v := s.Options[k]
		switch {
		case k == "type" && v != "table" && v != "":
			return errs.Unsupportedf("table %s cannot be written: it is of type '%s'; only tables of type 'table' can", label, v)
		case k == "write.sequence-number-init-mode" && !strings.EqualFold(v, "scan"):
			return refuse(k, "snapshots would have to record the greatest sequence number")
		case k == "metadata.iceberg.storage" && !strings.EqualFold(v, "disabled"):
			return refuse(k, "the Iceberg metadata would become stale")
		case k == "data-file.external-paths" && !externalOff(s.Options):
			return refuse(k, "files in external paths are not written")
		case k == "blob-field" && v != "", k == "vector.file.format" && v != "":
			return refuse(k, "such columns need files of their own")
		case strings.HasPrefix(k, "fields.") && strings.HasSuffix(k, ".map.storage-layout") && !strings.EqualFold(v, "default"):
			return refuse(k, "maps of that layout are not written")
		}
	}
	for _, f := range s.Fields {
		if f.Type.Root == schema.Blob {
			return errs.Unsupportedf("table %s cannot be written: column '%s' is of type %s, whose values need files of their own; write it with Paimon", label, f.Name, f.Type)
		}
	}
	return nil
}

func externalOff(o map[string]string) bool {
	s := o["data-file.external-paths.strategy"]
	return s == "" || strings.EqualFold(s, "none")
}
