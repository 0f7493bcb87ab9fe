package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the build (-ldflags "-X main.version=…"); without it the
// module version of the binary counts.
var version = ""

func versionText() string {
	v, commit := version, ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v == "" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value[:min(12, len(s.Value))] + commit
			case "vcs.modified":
				if s.Value == "true" {
					commit += "+changes"
				}
			}
		}
	}
	if v == "" {
		v = "(devel)"
	}
	if commit != "" {
		v += " (" + commit + ")"
	}
	return fmt.Sprintf("tributary %s, %s %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
