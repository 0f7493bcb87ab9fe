package cache

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

func TestEvictsLeastRecentlyUsed(t *testing.T) {
	c := New[string, int](10)
	c.Put("a", 1, 4)
	c.Put("b", 2, 4)
	if _, ok := c.Get("a"); !ok {
		t.Fatal("a is gone")
	}
	c.Put("c", 3, 4)
	if _, ok := c.Get("b"); ok {
		t.Fatal("b was used least recently and is still there")
	}
	if v, ok := c.Get("a"); !ok || v != 1 {
		t.Fatal("a is gone")
	}
	c.Put("huge", 9, 11)
	if _, ok := c.Get("huge"); ok {
		t.Fatal("a value larger than the cache was kept")
	}
	s := c.Stats()
	if s.Bytes != 8 || s.Entries != 2 || s.Evictions != 1 || s.Hits != 2 || s.Misses != 2 {
		t.Fatalf("%+v", s)
	}
	c.Put("a", 5, 2)
	if s := c.Stats(); s.Bytes != 6 {
		t.Fatalf("replacing counts double: %+v", s)
	}
}

func TestLoadsOnce(t *testing.T) {
	c := New[int, string](100)
	var calls atomic.Int32
	release := make(chan struct{})
	var wg sync.WaitGroup
	for range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			v, err := c.Load(context.Background(), 7, func(context.Context) (string, int64, error) {
				calls.Add(1)
				<-release
				return "x", 1, nil
			})
			if v != "x" || err != nil {
				t.Error(v, err)
			}
		}()
	}
	close(release)
	wg.Wait()
	if calls.Load() != 1 {
		t.Fatalf("loaded %d times", calls.Load())
	}
	if s := c.Stats(); s.Hits != 19 || s.Misses != 1 {
		t.Fatalf("%+v", s)
	}
}

func TestErrorsAreNotKept(t *testing.T) {
	c := New[int, string](100)
	boom := errors.New("boom")
	if _, err := c.Load(context.Background(), 1, func(context.Context) (string, int64, error) { return "", 0, boom }); err != boom {
		t.Fatal(err)
	}
	v, err := c.Load(context.Background(), 1, func(context.Context) (string, int64, error) { return "ok", 1, nil })
	if v != "ok" || err != nil {
		t.Fatal(v, err)
	}
}

func TestWaiterSurvivesCanceledLoader(t *testing.T) {
	c := New[int, string](100)
	ctx, cancel := context.WithCancel(context.Background())
	started := make(chan struct{})
	done := make(chan error)
	go func() {
		_, err := c.Load(ctx, 1, func(ctx context.Context) (string, int64, error) {
			close(started)
			<-ctx.Done()
			return "", 0, ctx.Err()
		})
		done <- err
	}()
	<-started
	got := make(chan string)
	go func() {
		v, err := c.Load(context.Background(), 1, func(context.Context) (string, int64, error) { return "mine", 1, nil })
		if err != nil {
			t.Error(err)
		}
		got <- v
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if v := <-got; v != "mine" {
		t.Fatal(v)
	}
}
