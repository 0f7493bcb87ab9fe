package planner

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"
	_ "time/tzdata" // named zones without a zone database on the machine

	"github.com/tributarydb/tributary/storage/errs"
)

// systemZoneName is MySQL's name of the server's own zone.
const systemZoneName = "SYSTEM"

var (
	serverZone atomic.Pointer[time.Location]
	zoneCache  sync.Map // name -> *time.Location
)

// maxZoneName bounds the names that are looked up: none is longer.
const maxZoneName = 64

// systemZone is what time_zone = SYSTEM means: the server's option, else UTC.
func systemZone() *time.Location {
	if l := serverZone.Load(); l != nil {
		return l
	}
	return time.UTC
}

// SetSystemZone sets what time_zone = SYSTEM means, for the whole process.
func SetSystemZone(l *time.Location) { serverZone.Store(l) }

// LoadZone finds a zone by a MySQL name: SYSTEM, ±hh:mm from -13:59 to +14:00,
// or a name of the zone database in any case.
func LoadZone(name string) (*time.Location, error) {
	if strings.EqualFold(name, systemZoneName) {
		return systemZone(), nil
	}
	if l, ok := zoneCache.Load(name); ok {
		return l.(*time.Location), nil
	}
	l, err := findZone(name)
	if err != nil {
		return nil, err
	}
	if l.String() == name { // not every spelling, or clients could grow the cache at will
		zoneCache.Store(name, l)
	}
	return l, nil
}

func findZone(name string) (*time.Location, error) {
	unknown := errs.Invalidf("Unknown or incorrect time zone: '%s'", name)
	if name == "" || len(name) > maxZoneName {
		return nil, unknown
	}
	if name[0] == '+' || name[0] == '-' {
		sec, ok := parseOffset(name)
		if !ok {
			return nil, unknown
		}
		if sec == 0 {
			return time.UTC, nil
		}
		return time.FixedZone(name, sec), nil
	}
	if strings.EqualFold(name, "UTC") || strings.EqualFold(name, "GMT") {
		return time.UTC, nil
	}
	if strings.EqualFold(name, "local") || strings.ContainsAny(name, `\.`) {
		return nil, unknown
	}
	for _, n := range []string{name, canonicalZone(name), strings.ToUpper(name)} {
		if l, err := time.LoadLocation(n); err == nil {
			return l, nil
		}
	}
	return nil, unknown
}

// canonicalZone spells a zone name as the zone database mostly does: Europe/Berlin, America/New_York.
func canonicalZone(name string) string {
	b := []byte(strings.ToLower(name))
	start := true
	for i, c := range b {
		if start && c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
		start = c == '/' || c == '_' || c == '-'
	}
	return string(b)
}

// parseOffset reads ±h:mm or ±hh:mm as seconds.
func parseOffset(s string) (int, bool) {
	h, m, ok := strings.Cut(s[1:], ":")
	if !ok || len(h) < 1 || len(h) > 2 || len(m) != 2 {
		return 0, false
	}
	n := 0
	for _, c := range h + m {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	minutes := n/100*60 + n%100
	if n%100 > 59 {
		return 0, false
	}
	if s[0] == '-' {
		minutes = -minutes
	}
	if minutes < -(13*60+59) || minutes > 14*60 {
		return 0, false
	}
	return minutes * 60, true
}
