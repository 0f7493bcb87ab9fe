package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/peterh/liner"
)

const clientHelp = `Statements end with ; or with \G for one line a column.
  \c          forget the statement being typed
  help, \h    this text
  exit, quit  leave (also Ctrl-D)
Ctrl-C ends a running statement.
`

// historyFile is where the client keeps its history, "" when there is no place.
func historyFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tributary", "history")
}

// askPassword asks for a password on the terminal.
func askPassword() (string, error) {
	l := liner.NewLiner()
	defer l.Close()
	return l.PasswordPrompt("Enter password: ")
}

// interactive reads statements from the terminal until the user leaves.
func (c *clientSession) interactive(ctx context.Context) error {
	l := liner.NewLiner()
	defer l.Close()
	l.SetCtrlCAborts(true)
	l.SetMultiLineMode(true)
	file := historyFile()
	loadHistory(l, file)
	defer saveHistory(l, file)

	fmt.Fprintf(c.out, "Connected. Statements end with ; or \\G. Type help for help.\n\n")
	c.out.Flush()
	var s splitter
	for {
		line, err := l.Prompt(prompt(&s))
		switch {
		case errors.Is(err, liner.ErrPromptAborted):
			s = splitter{}
			continue
		case errors.Is(err, io.EOF):
			fmt.Fprintln(c.out, "Bye")
			c.out.Flush()
			return nil
		case err != nil:
			return err
		}
		if !s.pending() {
			switch strings.ToLower(strings.TrimRight(strings.TrimSpace(line), ";")) {
			case "exit", "quit", `\q`:
				fmt.Fprintln(c.out, "Bye")
				c.out.Flush()
				return nil
			case "help", `\h`, "?":
				fmt.Fprint(c.out, clientHelp)
				c.out.Flush()
				continue
			}
		}
		if strings.HasSuffix(strings.TrimSpace(line), `\c`) && s.open() == 0 {
			s = splitter{}
			continue
		}
		if !s.pending() && firstWord(line) == "USE" && !strings.ContainsAny(line, ";\\") {
			line += ";" // as in mysql, USE needs no end
		}
		s.add(line + "\n")
		for {
			st, ok := s.next()
			if !ok {
				break
			}
			if h, ok := historyLine(st); ok {
				l.AppendHistory(h)
			}
			if err := c.run(ctx, st); err != nil {
				_ = c.report(err)
				if err := c.reconnect(ctx, err); err != nil {
					return c.report(err)
				}
			}
		}
		if !s.pending() {
			s = splitter{}
		}
	}
}

// historyLine writes a statement on one line. A statement with a line comment
// cannot be joined and is not kept.
func historyLine(st statement) (string, bool) {
	end := ";"
	if st.vertical {
		end = `\G`
	}
	if !strings.Contains(st.sql, "\n") {
		return st.sql + end, true
	}
	for i := 0; i < len(st.sql); {
		n, skip := skipToken(st.sql[i:])
		if n == 0 || skip && (st.sql[i] == '#' || st.sql[i] == '-') {
			return "", false
		}
		i += n
	}
	return strings.ReplaceAll(st.sql, "\n", " ") + end, true
}

// prompt shows whether a statement, quote or comment is open.
func prompt(s *splitter) string {
	if !s.pending() {
		return "tributary> "
	}
	if q := s.open(); q != 0 {
		return fmt.Sprintf("        %c> ", q)
	}
	return "        -> "
}

// reconnect opens a new session when err says that the old one is gone.
func (c *clientSession) reconnect(ctx context.Context, err error) error {
	if !errors.Is(err, driver.ErrBadConn) && !errors.Is(err, mysql.ErrInvalidConn) && !errors.Is(err, context.Canceled) {
		return nil
	}
	c.conn.Close()
	if err := c.connect(ctx); err != nil {
		return err
	}
	fmt.Fprintln(c.err, "Connected again; the settings of the old session are gone.")
	return nil
}

// A history that cannot be read or written is not worth an error: the session
// works without it.
func loadHistory(l *liner.State, file string) {
	if f, err := os.Open(file); err == nil {
		_, _ = l.ReadHistory(f)
		f.Close()
	}
}

func saveHistory(l *liner.State, file string) {
	if file == "" || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	if f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err == nil {
		_, _ = l.WriteHistory(f)
		f.Close()
	}
}
