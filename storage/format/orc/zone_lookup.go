package orc

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // writers' zones are needed wherever the server runs
)

const (
	// epoch2015 is 2015-01-01 00:00:00 UTC, the base of ORC's times.
	epoch2015 = 1420070400
	// epoch1900 is 1900-01-01 00:00:00 UTC: Java's java.util.TimeZone knows no
	// offsets before it and uses the zone's present standard offset.
	epoch1900 = -2208988800
)

// zone gives the offsets from UTC that java.util.TimeZone, with which ORC's Java
// writer turns date-times into seconds, has for a time zone.
type zone struct {
	loc *time.Location
	// fixed zones have the offset at all times.
	fixed    bool
	standard int64
	// base2015 are the seconds of 2015-01-01 00:00:00 in the zone.
	base2015 int64
}

var utcZone = &zone{fixed: true, base2015: epoch2015}

// javaZones are the three-letter names that java.util.TimeZone knows beyond the tz database.
var javaZones = map[string]string{
	"ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires", "ART": "Africa/Cairo",
	"AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka", "CAT": "Africa/Harare", "CNT": "America/St_Johns",
	"CST": "America/Chicago", "CTT": "Asia/Shanghai", "EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris", "IET": "America/Indiana/Indianapolis",
	"IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MIT": "Pacific/Apia", "NET": "Asia/Yerevan", "NST": "Pacific/Auckland",
	"PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico", "PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal",
	"VST": "Asia/Ho_Chi_Minh",
}

var zones sync.Map // name to *zone

// loadZone finds a zone by the name that a stripe footer gives; none means UTC.
func loadZone(name string) (*zone, error) {
	switch name {
	case "", "UTC", "GMT", "Z", "Etc/UTC", "Etc/GMT":
		return utcZone, nil
	}
	if z, ok := zones.Load(name); ok {
		return z.(*zone), nil
	}
	if len(name) > maxZoneName || name == "Local" {
		return nil, fmt.Errorf("the time zone %.64q is not known", name)
	}
	if off, ok := customOffset(name); ok {
		z := &zone{fixed: true, standard: off, base2015: epoch2015 - off}
		zones.Store(name, z)
		return z, nil
	}
	id := name
	if j, ok := javaZones[name]; ok {
		id = j
	}
	loc, err := time.LoadLocation(id)
	if err != nil {
		return nil, fmt.Errorf("the time zone %q is not known", name)
	}
	z := &zone{loc: loc}
	// Summer time is ahead of standard time in Java's data, so the least offset of a year is the standard one.
	for month := time.January; month <= time.December; month++ {
		_, off := time.Date(2037, month, 1, 0, 0, 0, 0, time.UTC).In(loc).Zone()
		if month == time.January || int64(off) < z.standard {
			z.standard = int64(off)
		}
	}
	_, off := time.Date(2015, time.January, 1, 0, 0, 0, 0, loc).Zone()
	z.base2015 = epoch2015 - int64(off)
	zones.Store(name, z)
	return z, nil
}

// customOffset reads Java's custom zones: GMT+8, GMT-03:30, +08:00.
func customOffset(name string) (seconds int64, ok bool) {
	s := strings.TrimPrefix(strings.TrimPrefix(name, "GMT"), "UTC")
	if len(s) < 2 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	hs, ms, colon := strings.Cut(s[1:], ":")
	if !colon {
		ms = "0"
		if len(hs) > 2 {
			hs, ms = hs[:len(hs)-2], hs[len(hs)-2:]
		}
	}
	h, err1 := strconv.ParseUint(hs, 10, 8)
	m, err2 := strconv.ParseUint(ms, 10, 8)
	if err1 != nil || err2 != nil || h > 23 || m > 59 {
		return 0, false
	}
	seconds = int64(h*3600 + m*60)
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// zoneCursor looks offsets up, remembering the last span of equal offset.
type zoneCursor struct {
	z             *zone
	from, to, off int64
	set           bool
}

// offset returns the seconds to add to an instant for the local date-time.
func (c *zoneCursor) offset(sec int64) int64 {
	z := c.z
	if z.fixed {
		return z.standard
	}
	if sec < epoch1900 {
		return z.standard
	}
	if c.set && sec >= c.from && sec < c.to {
		return c.off
	}
	t := time.Unix(sec, 0).In(z.loc)
	_, off := t.Zone()
	start, end := t.ZoneBounds()
	c.from, c.to, c.off, c.set = epoch1900, 1<<62, int64(off), true
	if !start.IsZero() {
		c.from = max(start.Unix(), epoch1900)
	}
	if !end.IsZero() {
		c.to = end.Unix()
	}
	return c.off
}
