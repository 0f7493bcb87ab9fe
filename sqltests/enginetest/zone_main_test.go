package enginetest

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

// TestMain runs the tests in a process whose zone is UTC. Some answers of go-mysql-server's tests are made when the
// process starts, in the machine's zone, as if that were the session's; ours have the session's zone, which is UTC here.
func TestMain(m *testing.M) {
	if os.Getenv("TZ") == "UTC" {
		os.Exit(m.Run())
	}
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), "TZ=UTC")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		panic(err)
	}
}
