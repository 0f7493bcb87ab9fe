package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	_ "time/tzdata" // named time zones on machines that have no zone files
)

// Exit codes.
const (
	exitOK    = 0
	exitFail  = 1 // the work failed
	exitUsage = 2 // the command line is wrong
)

const usage = `tributary serves Apache Paimon tables to MySQL clients.

usage: tributary COMMAND [FLAGS]

  serve     run the server
  sql       interactive SQL client, or one statement with -e
  test      run SQL scripts (.slt) against a server
  version   print the version

tributary COMMAND -h lists the flags of a command.
`

// streams are the standard files of a command.
type streams struct {
	in       *os.File
	out, err io.Writer
}

func main() {
	os.Exit(run(context.Background(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

func run(ctx context.Context, args []string, std streams) int {
	if len(args) == 0 {
		fmt.Fprint(std.err, usage)
		return exitUsage
	}
	var err error
	switch args[0] {
	case "serve":
		err = serve(ctx, args[1:], std)
	case "sql":
		err = client(ctx, args[1:], std)
	case "test":
		err = test(ctx, args[1:], std)
	case "version", "-version", "--version":
		fmt.Fprintln(std.out, versionText())
	case "help", "-h", "-help", "--help":
		fmt.Fprint(std.out, usage)
	default:
		fmt.Fprintf(std.err, "tributary: no command %q\n\n%s", args[0], usage)
		return exitUsage
	}
	return exitCode(err, std)
}

// usageError is a mistake on the command line.
type usageError struct{ msg string }

func (e usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

var (
	// errReported ends a command that has already said what is wrong.
	errReported = errors.New("failed")
	// errFlags is a mistake that the flag package has printed already.
	errFlags = errors.New("wrong flags")
)

func exitCode(err error, std streams) int {
	var u usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errReported):
		return exitFail
	case errors.Is(err, errFlags):
		return exitUsage
	case errors.As(err, &u):
		fmt.Fprintln(std.err, "tributary:", err)
		return exitUsage
	}
	fmt.Fprintln(std.err, "tributary:", err)
	return exitFail
}

// parseFlags parses flags and arguments in any order and returns the arguments.
func parseFlags(fs *flag.FlagSet, args []string, std streams) ([]string, error) {
	fs.SetOutput(std.err)
	var rest []string
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, errFlags
		}
		args = fs.Args()
		if len(args) == 0 {
			return rest, nil
		}
		rest = append(rest, args[0])
		args = args[1:]
	}
}
