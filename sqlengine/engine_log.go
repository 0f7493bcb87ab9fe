package sqlengine

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/sirupsen/logrus"
)

// go-mysql-server writes to logrus's standard logger, which is of the process: to standard error, with a line for every KILL.
// forwardEngineLog sends its warnings and errors to the server's log instead, to the last opened server's where there
// are several.
func forwardEngineLog(log *slog.Logger) {
	engineLog.Store(log)
	engineLogOnce.Do(func() {
		logrus.SetLevel(logrus.WarnLevel)
		logrus.SetOutput(io.Discard)
		logrus.AddHook(engineLogHook{})
	})
}

var (
	engineLog     atomic.Pointer[slog.Logger]
	engineLogOnce sync.Once
)

// engineLogHook passes logrus entries on.
type engineLogHook struct{}

// Levels implements logrus.Hook.
func (engineLogHook) Levels() []logrus.Level {
	return []logrus.Level{logrus.WarnLevel, logrus.ErrorLevel, logrus.FatalLevel, logrus.PanicLevel}
}

// Fire implements logrus.Hook.
func (engineLogHook) Fire(e *logrus.Entry) error {
	level := slog.LevelError
	if e.Level == logrus.WarnLevel {
		level = slog.LevelWarn
	}
	attrs := make([]slog.Attr, 0, len(e.Data))
	for k, v := range e.Data {
		attrs = append(attrs, slog.Any(k, v))
	}
	ctx := e.Context
	if ctx == nil {
		ctx = context.Background()
	}
	engineLog.Load().LogAttrs(ctx, level, e.Message, attrs...)
	return nil
}
