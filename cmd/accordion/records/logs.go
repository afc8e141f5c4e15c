package records

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"accordion/adapter/journal"
)

// log is the entries of a journal, or of several. An error ends it.
type log = iter.Seq2[journal.Entry, error]

// selection is which entries of a journal are shown.
type selection struct {
	job    int64 // 0: all
	since  int64 // above this id
	follow bool  // and those to come

	from time.Time // entries of this time or later
}

// of returns what is selected of a journal.
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

// byID returns the entries of the job, or of all, above the id.
func (s selection) byID(ctx context.Context, j journal.Reader) log {
	switch {
	case s.follow:
		return j.Follow(ctx, s.since, s.job, 200*time.Millisecond)
	case s.job != 0:
		return j.JobEntries(s.job, s.since)
	}
	return j.Entries(s.since)
}

// named is the log with the cluster's name in each entry; without a name it stays as it is.
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

// advance goes on to the next entry, if there is one.
func (h *head) advance() (ok bool) {
	h.entry, h.err, ok = h.next()
	return ok
}

// inOrder merges the logs by the times of their entries; of equal times the earlier log's comes first.
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

// asTheyCome gives the logs' entries as they come; entries of one log stay in their order. stop ends ctx, and with it the logs.
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
		defer reading.Wait() // nothing reads a journal that is closed
		defer stop()
		for n := range news {
			if !yield(n.entry, n.err) || n.err != nil {
				return
			}
		}
	}
}
