package planner

import (
	"strconv"
	"strings"
)

// maxTimeHours is the greatest hour of a TIME.
const maxTimeHours = 838

// parseTimeText reads a TIME literal: [-][D ]h:mm[:ss[.ffffff]], [-]hhmmss[.ffffff], in microseconds.
func parseTimeText(s string) (micros int64, ok bool) {
	s = strings.TrimSpace(s)
	neg := strings.HasPrefix(s, "-")
	if neg {
		s = s[1:]
	}
	var frac int64
	if whole, f, found := strings.Cut(s, "."); found {
		if f == "" || len(f) > 6 || !allDigits(f) {
			return 0, false
		}
		frac, _ = strconv.ParseInt(f+strings.Repeat("0", 6-len(f)), 10, 64)
		s = whole
	}
	var days int64
	if d, rest, found := strings.Cut(s, " "); found {
		if len(d) > 2 || !allDigits(d) {
			return 0, false
		}
		days, _ = strconv.ParseInt(d, 10, 64)
		s = rest
		if !strings.Contains(s, ":") { // D HH
			s += ":00"
		}
	}
	var parts []string
	if strings.Contains(s, ":") {
		parts = strings.Split(s, ":")
		if len(parts) == 2 {
			parts = append(parts, "0")
		}
	} else {
		if len(s) == 0 || len(s) > 7 {
			return 0, false
		}
		s = strings.Repeat("0", max(0, 6-len(s))) + s
		parts = []string{s[:len(s)-4], s[len(s)-4 : len(s)-2], s[len(s)-2:]}
	}
	if len(parts) != 3 {
		return 0, false
	}
	var n [3]int64
	for i, p := range parts {
		if len(p) == 0 || len(p) > 3 || !allDigits(p) {
			return 0, false
		}
		n[i], _ = strconv.ParseInt(p, 10, 64)
	}
	h := days*24 + n[0]
	if h > maxTimeHours || n[1] > 59 || n[2] > 59 {
		return 0, false
	}
	micros = ((h*60+n[1])*60+n[2])*1_000_000 + frac
	if neg {
		micros = -micros
	}
	return micros, true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
