package schema

import "strings"

// startupMode checks the options that say where a read begins (validateStartupMode).
func (v *validator) startupMode() {
	set := func(key string) bool { _, ok := v.s.Options[key]; return ok }
	// selects is set, where a version counts as the snapshot id that it becomes.
	selects := func(key string) bool { return set(key) || key == "scan.snapshot-id" && set("scan.version") }
	mode := v.scanMode(set)
	if v.err != nil {
		return
	}
	const (
		id, tag, watermark, millis, timestamp, creation = "scan.snapshot-id", "scan.tag-name", "scan.watermark", "scan.timestamp-millis", "scan.timestamp", "scan.file-creation-time-millis"
		between, betweenTime, autoTag                   = "incremental-between", "incremental-between-timestamp", "incremental-to-auto-tag"
		incremental                                     = between + "," + betweenTime + "," + autoTag
	)
	oneOf := func(keys ...string) {
		n := 0
		for _, k := range keys {
			if set(k) {
				n++
			}
		}
		v.must(n == 1 && (keys[0] != id || !set("scan.version")), "must set only one key in [%s] when you use %s for scan.mode", strings.Join(keys, ","), mode)
	}
	needs := func(key string) {
		v.must(set(key), "%s can not be null when you use %s for scan.mode", key, mode)
	}
	without := func(because string, keys ...string) {
		for _, k := range keys {
			v.must(!selects(k), "[%s] must be null when you set [%s]", k, because)
		}
	}
	switch mode {
	case "from-timestamp":
		oneOf(millis, timestamp)
		without(millis+","+timestamp, id, creation, tag, betweenTime, between, autoTag)
	case "from-snapshot":
		oneOf(id, tag, watermark)
		without(id+","+tag, millis, timestamp, creation, betweenTime, between, autoTag)
	case "incremental":
		oneOf(between, betweenTime, autoTag)
		without(incremental, id, millis, creation, timestamp, tag)
	case "from-snapshot-full":
		needs(id)
		without(id, millis, timestamp, creation, tag, betweenTime, between, autoTag)
	case "from-file-creation-time":
		needs(creation)
		without(creation, id, millis, tag, betweenTime, between, autoTag)
	default:
		for _, k := range []string{millis, creation, timestamp, id, tag, betweenTime, between, autoTag} {
			v.must(!selects(k), "%s must be null when you use %s for scan.mode", k, mode)
		}
	}
}

// scanMode is the mode in force: that of the options where none is set (CoreOptions.startupMode).
func (v *validator) scanMode(set func(string) bool) string {
	mode := option(v, OptScanMode)
	optional(v, OptScanTimestampMs)
	optional(v, OptScanSnapshotID)
	optional(v, OptScanWatermark)
	optional(v, OptScanFileCreation)
	optional(v, OptScanCreation)
	switch {
	case mode == "full":
		return "latest-full"
	case mode != "default":
		return mode
	case set("scan.timestamp-millis") || set("scan.timestamp"):
		return "from-timestamp"
	case set("scan.snapshot-id") || set("scan.tag-name") || set("scan.watermark") || set("scan.version"):
		return "from-snapshot"
	case set("scan.file-creation-time-millis"):
		return "from-file-creation-time"
	case set("scan.creation-time-millis"):
		return "from-creation-timestamp"
	case set("incremental-between") || set("incremental-between-timestamp"):
		return "incremental"
	}
	return "latest-full"
}
