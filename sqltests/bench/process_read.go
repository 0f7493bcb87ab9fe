package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc (USER_HZ, the same on every Linux).
const tick = 10 * time.Millisecond

// memory returns a process's resident memory now and at most, in bytes.
func memory(process int) (now, peak int64, err error) {
	name := fmt.Sprintf("/proc/%d/status", process)
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		kilobytes, _ := strconv.ParseInt(f[1], 10, 64)
		switch f[0] {
		case "VmRSS:":
			now = kilobytes << 10
		case "VmHWM:":
			peak = kilobytes << 10
		}
	}
	if peak == 0 {
		return 0, 0, fmt.Errorf("%s does not tell VmHWM", name)
	}
	return now, peak, nil
}

// processorTime returns the processor time that a process has used, 0 where that cannot be known.
func processorTime(process int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return 0
	}
	// The second field is the program's name in brackets; user and system time are the 14th and 15th.
	const user, system, first = 14, 15, 3
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) <= system-first {
		return 0
	}
	u, _ := strconv.ParseInt(f[user-first], 10, 64)
	s, _ := strconv.ParseInt(f[system-first], 10, 64)
	return time.Duration(u+s) * tick
}
