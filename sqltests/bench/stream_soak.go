package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tributarydb/tributary/sqltests/bench/generate"
)

const (
	// soakRows are the rows of one statement of the writer, soakPause is the time between two.
	soakRows, soakPause = 200, 50 * time.Millisecond
	// soakSample is how often the server's memory is looked at, soakEdge how much of both ends is averaged.
	soakSample, soakEdge = time.Second, time.Minute
	// soakDrain bounds the wait for the last rows.
	soakDrain = time.Minute
)

// soak follows a table for minutes beside a writer, and looks at the server's memory.
func (s *settings) soak(ctx context.Context, cache string) (err error) {
	warehouse, err := makeWarehouse(filepath.Join(cache, "soak"))
	if err != nil {
		return err
	}
	server, err := startServer(ctx, s.binary, warehouse, s.threads, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	for _, q := range []string{"DROP TABLE IF EXISTS followed", "CREATE TABLE followed (id BIGINT NOT NULL, quantity INT, note STRING, PRIMARY KEY (id)) WITH ('bucket' = '4', 'snapshot.num-retained.max' = '50', 'snapshot.time-retained' = '1 min')"} {
		if _, err := server.db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var received atomic.Int64
	readerEnd, who, err := follow(ctx, server, "SELECT id, quantity, note FROM followed /*+ OPTIONS('streaming' = 'true', 'consumer-id' = 'soak') */", &received)
	if err != nil {
		return err
	}
	progress(fmt.Sprintf("a streaming SELECT by %s beside a writer, for %s", who, s.minutes))
	var written atomic.Int64
	var failed error
	var writing sync.WaitGroup
	start := time.Now()
	writing.Go(func() { failed = soakWrite(ctx, server, start.Add(s.minutes), &written) })
	var samples []soakPoint
	ticker := time.NewTicker(soakSample)
	defer ticker.Stop()
	for time.Since(start) < s.minutes && err == nil {
		select {
		case <-ticker.C:
			var now int64
			if now, _, err = memory(server.process()); err == nil {
				samples = append(samples, soakPoint{time.Since(start), now})
			}
		case err = <-readerEnd:
			err = fmt.Errorf("the reader ended: %w", err)
			cancel() // the writer as well
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	writing.Wait()
	for end := time.Now().Add(soakDrain); err == nil && failed == nil && received.Load() < written.Load() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	cancel()
	<-readerEnd
	if received.Load() != written.Load() {
		return fmt.Errorf("%d rows were written, %d came by the stream", written.Load(), received.Load())
	}
	_, peak, err := memory(server.process())
	if err != nil {
		return err
	}
	edge := min(soakEdge, s.minutes/2)
	first, last := average(samples, 0, edge), average(samples, s.minutes-edge, s.minutes+soakSample)
	fmt.Printf("Streaming SELECT by %s beside a writer of %d rows each %s, %s: %d rows written and received\n", who, soakRows, soakPause, s.minutes, written.Load())
	fmt.Printf("memory of the server: %.1f MiB on average of the first %s, %.1f MiB of the last, %.1f MiB at most (%d samples)\n", mebibytes(first), edge, mebibytes(last), mebibytes(peak), len(samples))
	return nil
}

// soakPoint is the server's memory at a time.
type soakPoint struct {
	at     time.Duration
	memory int64
}

// average is that of the points from one time to before another.
func average(points []soakPoint, from, to time.Duration) int64 {
	var sum, n int64
	for _, p := range points {
		if p.at >= from && p.at < to {
			sum, n = sum+p.memory, n+1
		}
	}
	return sum / max(n, 1)
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// soakWrite upserts rows until a time.
func soakWrite(ctx context.Context, server *server, until time.Time, written *atomic.Int64) error {
	conn, err := server.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	r := random(writeSeed)
	for time.Now().Before(until) && ctx.Err() == nil {
		var q strings.Builder
		q.WriteString("INSERT INTO followed VALUES ")
		from := r.below(1_000_000)
		for i := range int64(soakRows) {
			if i > 0 {
				q.WriteByte(',')
			}
			// The keys of a statement differ: each row comes by the stream.
			fmt.Fprintf(&q, "(%d, %d, '%s')", (from+i)%1_000_000, r.below(quantities), saleWords[r.below(int64(len(saleWords)))])
		}
		if _, err := conn.ExecContext(ctx, q.String()); err != nil {
			return err
		}
		written.Add(soakRows)
		time.Sleep(soakPause)
	}
	return nil
}

// follow starts a reader of a streaming SELECT, which counts its rows: the program mysql, or this program's own client
// where mysql is not installed. The channel tells its end, after ctx at the latest.
func follow(ctx context.Context, server *server, query string, received *atomic.Int64) (chan error, string, error) {
	end := make(chan error, 1)
	program, err := exec.LookPath("mysql")
	if err != nil {
		conn, err := server.pool.Conn(ctx)
		if err != nil {
			return nil, "", err
		}
		go func() {
			defer conn.Close()
			end <- eachRow(ctx, conn, query, func() { received.Add(1) })
		}()
		return end, "the Go client (mysql is not installed)", nil
	}
	host, port, err := net.SplitHostPort(server.address)
	if err != nil {
		return nil, "", err
	}
	// Into a pipe the program writes 4 KiB at a time, so that the last rows would not come; stdbuf makes it lines.
	args := []string{"stdbuf", "-oL"}
	if _, err := exec.LookPath("stdbuf"); err != nil {
		return nil, "", fmt.Errorf("mysql is there, but not stdbuf (coreutils), which makes it hand on each row: %w", err)
	}
	args = append(args, program, "--no-defaults", "--comments", "--quick", "--unbuffered", "--batch", "--skip-column-names", "--protocol=tcp",
		"-h", host, "-P", port, "-u", "root", "-D", generate.Database, "-e", query)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	go func() {
		lines := bufio.NewReaderSize(out, 1<<16)
		for {
			if _, err := lines.ReadSlice('\n'); err != nil {
				if err == io.EOF {
					err = errors.New("its output ended")
				}
				end <- errors.Join(err, cmd.Wait())
				return
			}
			received.Add(1)
		}
	}()
	return end, "mysql --quick", nil
}
