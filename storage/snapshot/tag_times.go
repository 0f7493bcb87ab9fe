package snapshot

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// parseDateTime reads a local date-time: the array of its parts that Jackson
// writes, trailing zeros left out, or an ISO text.
func parseDateTime(raw json.RawMessage) (*int64, error) {
	var t time.Time
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fmt.Errorf("'tagCreateTime' is not a time")
		}
		var err error
		for _, layout := range []string{"2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05.999999999"} {
			if t, err = time.Parse(layout, s); err == nil {
				break
			}
		}
		if err != nil {
			return nil, fmt.Errorf("'tagCreateTime' is not a time")
		}
	} else {
		var p []int
		if err := json.Unmarshal(raw, &p); err != nil || len(p) < 3 || len(p) > 7 {
			return nil, fmt.Errorf("'tagCreateTime' is not an array of 3 to 7 integers")
		}
		p = append(p, 0, 0, 0, 0)
		if p[0] < 0 || p[0] > 9999 || p[1] < 1 || p[1] > 12 || p[2] < 1 || p[2] > 31 || p[3] < 0 || p[3] > 23 ||
			p[4] < 0 || p[4] > 59 || p[5] < 0 || p[5] > 59 || p[6] < 0 || p[6] > 999_999_999 {
			return nil, fmt.Errorf("'tagCreateTime' is not a time")
		}
		t = time.Date(p[0], time.Month(p[1]), p[2], p[3], p[4], p[5], p[6], time.UTC)
	}
	us := t.UnixMicro()
	return &us, nil
}

// parseSpan reads decimal seconds such as 86400.000000000, or an ISO duration text PT…S.
func parseSpan(s string) (*Span, error) {
	bad := fmt.Errorf("'tagTimeRetained' is not a duration: %s", s)
	if strings.ContainsAny(s, "eE") && !strings.HasPrefix(s, `"`) {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || f < 0 || f > 1<<62 {
			return nil, bad
		}
		return &Span{Seconds: int64(f)}, nil
	}
	if text, ok := strings.CutPrefix(s, `"PT`); ok {
		d, err := time.ParseDuration(strings.ToLower(strings.TrimSuffix(text, `"`)))
		if err != nil || d < 0 {
			return nil, bad
		}
		return &Span{Seconds: int64(d / time.Second), Nanos: int32(d % time.Second)}, nil
	}
	whole, frac, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n < 0 || len(frac) > 9 {
		return nil, bad
	}
	out := &Span{Seconds: n}
	if frac != "" {
		x, err := strconv.ParseUint(frac+strings.Repeat("0", 9-len(frac)), 10, 32)
		if err != nil {
			return nil, bad
		}
		out.Nanos = int32(x)
	}
	return out, nil
}
