package schema

import (
	"strings"
	"testing"
)

// TestHashOrder holds orders that Paimon 2.0.0 showed in $schemas.
func TestHashOrder(t *testing.T) {
	for _, c := range [][2]string{
		{"data-evolution.enabled blob-field row-tracking.enabled", "blob-field row-tracking.enabled data-evolution.enabled"},
		{"data-evolution.enabled row-tracking.enabled", "row-tracking.enabled data-evolution.enabled"},
	} {
		if got := strings.Join(HashOrder(strings.Fields(c[0])), " "); got != c[1] {
			t.Errorf("%s comes as %s, want %s", c[0], got, c[1])
		}
	}
	if HashOrder(nil) != nil {
		t.Error("nothing")
	}
}
