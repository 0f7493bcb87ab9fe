package sqlengine

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
)

func TestForwardEngineLog(t *testing.T) {
	var b bytes.Buffer
	forwardEngineLog(slog.New(slog.NewTextHandler(&b, nil)))
	t.Cleanup(func() { forwardEngineLog(slog.New(slog.DiscardHandler)) })
	logrus.Info("kill query: pid 1")
	logrus.WithField("table", "t").Warn("odd")
	logrus.Error("bad")
	got := b.String()
	for _, want := range []string{"level=WARN msg=odd table=t", "level=ERROR msg=bad"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if strings.Contains(got, "kill query") {
		t.Errorf("a line for a KILL: %q", got)
	}
}
