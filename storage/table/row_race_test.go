package table_test

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributarydb/tributary/storage/errs"
	"github.com/tributarydb/tributary/storage/relation"
	"github.com/tributarydb/tributary/storage/table"
)

// TestRemoveRaces lets writers of two processes insert, delete and update rows of their own in one table, while others compact it: what
// a statement reported as done is there at the end, and nothing else.
func TestRemoveRaces(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range removeCases {
		if underRace && c.name != "vectors" && c.name != "bucket-rewritten" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			one := newLake(t)
			two := openLake(t, one.mem, one.mem)
			one.create("t", "k STRING; p INT", "", "", append([]string{"write-only", "true", "compaction.min.file-num", "2",
				"commit.min-retry-wait", "1 ms", "commit.max-retry-wait", "2 ms", "commit.max-retries", "200"}, c.opts...)...)
			const writers, rounds = 3, 8
			rows := make([][]string, writers)
			var wg sync.WaitGroup
			for w := range writers {
				l := []*lake{one, two}[w%2]
				wg.Add(1)
				go func() {
					defer wg.Done()
					rnd := rand.New(rand.NewSource(int64(w)))
					mine := fmt.Sprintf("w%d-", w)
					for round := range rounds {
						var more []string
						for i := range 1 + rnd.Intn(9) {
							more = append(more, fmt.Sprintf("%s%d.%d|%d", mine, round, i, w))
						}
						if _, err := l.tryInsert(ctx, "t", relation.SinkOptions{}, more...); err != nil {
							t.Error(err)
							return
						}
						rows[w] = append(rows[w], more...)
						verdicts := map[string]string{}
						for _, row := range rows[w] {
							switch rnd.Intn(5) {
							case 0:
								verdicts[row] = ""
							case 1:
								verdicts[row] = strings.Replace(row, "|", "u|", 1)
							}
						}
						err := retry(func() error {
							_, err := l.tryChange(ctx, "t", func(row string) (bool, string) {
								next, ok := verdicts[row]
								return !ok, next
							})
							return err
						})
						if err != nil {
							t.Error(err)
							return
						}
						var now []string
						for _, row := range rows[w] {
							next, gone := verdicts[row]
							switch {
							case !gone:
								now = append(now, row)
							case next != "":
								now = append(now, next)
							}
						}
						rows[w] = now
					}
				}()
			}
			stop := make(chan struct{})
			var others sync.WaitGroup
			others.Add(1)
			go func() {
				defer others.Done()
				for {
					select {
					case <-stop:
						return
					default:
					}
					time.Sleep(5 * time.Millisecond) // who is outrun again and again gives up
					if _, err := two.open("t").Compact(ctx, table.CompactOptions{Full: true}); err != nil && !errs.Is(err, errs.Conflict) {
						t.Error(err)
						return
					}
				}
			}()
			wg.Wait()
			close(stop)
			others.Wait()
			one.expect("t", slices.Concat(rows...)...)
			vectorsHaveFiles(t, one)
			one.noLeftovers("t")
		})
	}
}
