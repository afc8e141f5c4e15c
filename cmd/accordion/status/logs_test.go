package status

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/adapter/journal"
)

func entry(cluster string, id, second int64) journal.Entry {
	return journal.Entry{Cluster: cluster, ID: id, At: time.Unix(second, 0)}
}

func logOf(all []journal.Entry, end error) log {
	return func(yield func(journal.Entry, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
		if end != nil {
			yield(journal.Entry{}, end)
		}
	}
}

func TestLogsAreMergedByTimeAsAStableSortWould(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, seed))
	for round := range 300 {
		var logs []log
		var all []journal.Entry
		for _, cluster := range []string{"a", "b", "c", "d"}[:r.IntN(5)] {
			var own []journal.Entry
			second := int64(0)
			for id := range int64(r.IntN(6)) {
				second += int64(r.IntN(3))
				own = append(own, entry(cluster, id, second))
			}
			logs, all = append(logs, logOf(own, nil)), append(all, own...)
		}
		slices.SortStableFunc(all, func(a, b journal.Entry) int { return a.At.Compare(b.At) })
		var got []journal.Entry
		for e, err := range inOrder(logs) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e)
		}
		if diff := cmp.Diff(all, got); diff != "" {
			t.Fatalf("seed %d, round %d: (-sorted +merged)\n%s", seed, round, diff)
		}
	}
}

func TestALogThatBreaksEndsTheMerge(t *testing.T) {
	broken := errors.New("damaged")
	var got []error
	for _, err := range inOrder([]log{logOf([]journal.Entry{entry("a", 1, 5), entry("a", 2, 9)}, nil), logOf([]journal.Entry{entry("b", 1, 6)}, broken)}) {
		got = append(got, err)
	}
	if len(got) != 3 || !errors.Is(got[2], broken) {
		t.Errorf("%v, want two entries and the error", got)
	}
}

// waiting returns a log with one entry that then waits until ctx ends.
func waiting(ctx context.Context, e journal.Entry) log {
	return func(yield func(journal.Entry, error) bool) {
		if yield(e, nil) {
			<-ctx.Done()
		}
	}
}

func TestFollowedLogsComeTogetherAndEndWithTheReader(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	seen := map[string]bool{}
	for e, err := range asTheyCome(ctx, stop, []log{waiting(ctx, entry("a", 1, 1)), waiting(ctx, entry("b", 1, 1))}) {
		if err != nil {
			t.Fatal(err)
		}
		if seen[e.Cluster] = true; len(seen) == 2 {
			break
		}
	}
	if !seen["a"] || !seen["b"] || ctx.Err() == nil {
		t.Errorf("seen: %v; stopped: %v", seen, ctx.Err())
	}
}
