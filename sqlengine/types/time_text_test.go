package types

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestDateText compares with the standard library over all years that it prints alike.
func TestDateText(t *testing.T) {
	for d := int64(-719162); d <= 2932896; d += 13 {
		want := time.Unix(d*86400, 0).UTC().Format(time.DateOnly)
		if got := string(AppendDate(nil, d)); got != want {
			t.Fatalf("day %d: %s, want %s", d, got, want)
		}
	}
}

func TestDatetimeText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	layouts := []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05.0", "2006-01-02 15:04:05.00", "2006-01-02 15:04:05.000",
		"2006-01-02 15:04:05.0000", "2006-01-02 15:04:05.00000", "2006-01-02 15:04:05.000000"}
	for range 20000 {
		m := r.Int64N(253402300800e6+62135596800e6) - 62135596800e6
		at := time.UnixMicro(m).UTC()
		digits := r.IntN(len(layouts))
		if got, want := string(AppendDatetime(nil, m, digits)), at.Format(layouts[digits]); got != want {
			t.Fatalf("%d with %d digits: %s, want %s", m, digits, got, want)
		}
		if got, want := string(AppendDatetime(nil, m, -1)), at.Format("2006-01-02 15:04:05.999999"); got != want {
			t.Fatalf("%d: %s, want %s", m, got, want)
		}
	}
}

// TestInstantRange: the range holds every instant that shows a wall clock time, and a
// skipped time lies between its ends.
func TestInstantRange(t *testing.T) {
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu", "America/St_Johns"} {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
		for q := range int64(366 * 2 * 96) {
			wall := start + q*15*60*1e6
			lo, hi := InstantRange(wall, loc)
			if lo <= hi {
				if WallMicros(lo, loc) != wall || WallMicros(hi, loc) != wall {
					t.Fatalf("%s: wall %d gives %d..%d, which show something else", zone, wall, lo, hi)
				}
				continue
			}
			if WallMicros(hi, loc) >= wall || WallMicros(lo, loc) <= wall || lo-hi != 1 {
				t.Fatalf("%s: skipped wall %d gives %d and %d", zone, wall, hi, lo)
			}
		}
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := InstantRange(micros("2026-10-25 02:30:00"), berlin)
	if lo != micros("2026-10-25 00:30:00") || hi != micros("2026-10-25 01:30:00") {
		t.Errorf("a time that occurs twice: %d..%d", lo, hi)
	}
}
