package status

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"accordion/adapter/journal"
)

// log is a sequence of entries from one or several journals. It ends after an error.
type log = iter.Seq2[journal.Entry, error]

// selection selects entries of a journal.
type selection struct {
	job    int64 // only entries of this job; 0 means all jobs
	since  int64 // only entries with a larger ID
	follow bool  // also wait for future entries

	from time.Time // only entries of this time or later
}

// of returns the selected entries of a journal.
func (s selection) of(ctx context.Context, j journal.Reader) log {
	if s.from.IsZero() {
		return s.byID(ctx, j)
	}
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range s.byID(ctx, j) {
			if (err != nil || !e.At.Before(s.from)) && !yield(e, err) {
				return
			}
		}
	}
}

// byID returns the entries with an ID above s.since. Unless s.job is 0, it returns only entries of that job.
func (s selection) byID(ctx context.Context, j journal.Reader) log {
	switch {
	case s.follow:
		return j.Follow(ctx, s.since, s.job, 200*time.Millisecond)
	case s.job != 0:
		return j.JobEntries(s.job, s.since)
	}
	return j.Entries(s.since)
}

// named returns the log with the cluster's name in each entry. Without a name it returns the log unchanged.
func named(cluster string, l log) log {
	if cluster == "" {
		return l
	}
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range l {
			e.Cluster = cluster
			if !yield(e, err) {
				return
			}
		}
	}
}

// head is the next entry of a log.
type head struct {
	next  func() (journal.Entry, error, bool)
	entry journal.Entry
	err   error
}

// advance reads the next entry, if there is one.
func (h *head) advance() (ok bool) {
	h.entry, h.err, ok = h.next()
	return ok
}

// inOrder merges logs by time. Among entries with the same time, the entry of the first log comes first.
func inOrder(logs []log) log {
	return func(yield func(journal.Entry, error) bool) {
		var heads []*head
		for _, l := range logs {
			next, stop := iter.Pull2(l)
			defer stop()
			if h := (&head{next: next}); h.advance() {
				heads = append(heads, h)
			}
		}
		for len(heads) > 0 {
			first := slices.IndexFunc(heads, func(h *head) bool {
				return !slices.ContainsFunc(heads, func(other *head) bool { return other.entry.At.Before(h.entry.At) })
			})
			h := heads[first]
			if !yield(h.entry, h.err) || h.err != nil {
				return
			}
			if !h.advance() {
				heads = slices.Delete(heads, first, first+1)
			}
		}
	}
}

// asTheyCome returns the entries of all logs as they are written. Entries of one log keep their order. The function `stop` ends ctx, and so
// ends the logs.
func asTheyCome(ctx context.Context, stop func(), logs []log) log {
	return func(yield func(journal.Entry, error) bool) {
		type next struct {
			entry journal.Entry
			err   error
		}
		news := make(chan next)
		var reading sync.WaitGroup
		for _, l := range logs {
			reading.Go(func() {
				for entry, err := range l {
					select {
					case news <- next{entry, err}:
					case <-ctx.Done():
						return
					}
				}
			})
		}
		go func() { reading.Wait(); close(news) }()
		defer reading.Wait() // wait, because no goroutine may read a journal after it is closed
		defer stop()
		for n := range news {
			if !yield(n.entry, n.err) || n.err != nil {
				return
			}
		}
	}
}
