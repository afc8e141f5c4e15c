package audit

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/core"
)

// cluster is a batch system that shows different reservations at each reading.
type cluster struct {
	looks []string // for each reading, the names of the reservations, one letter each; later readings repeat the last element
	calls int
}

func (c *cluster) CurrentState(context.Context) (*adapter.CurrentState, error) {
	now := c.looks[min(c.calls, len(c.looks)-1)]
	c.calls++
	all := &adapter.CurrentState{At: time.Now()}
	for _, job := range now {
		all.Reservations = append(all.Reservations, adapter.Reservation{Name: fmt.Sprintf("accordion-%c-0", job)})
	}
	return all, nil
}

func (c *cluster) Accounting(context.Context, core.Time) (*adapter.Accounting, error) {
	return &adapter.Accounting{Unread: 1, Why: "a row"}, nil
}

type journalOf struct{}

func (journalOf) Entries(int64) iter.Seq2[journal.Entry, error] {
	damaged := journal.Entry{Args: map[string]any{journal.Unreadable: "{"}}
	return func(yield func(journal.Entry, error) bool) {
		for range 2 {
			if !yield(damaged, nil) {
				return
			}
		}
	}
}

func (journalOf) Records() ([]journal.Record, error) { return nil, nil }

// A leftover is a finding only if every reading shows it until Settle has passed. A leftover that
// disappears was part of an action in progress.
func TestOnlyLeftoversThatStayAreFound(t *testing.T) {
	for _, test := range []struct {
		name   string
		settle time.Duration
		looks  []string
		want   string // the jobs that findings are about
		calls  int
	}{
		{"nothing", time.Minute, []string{""}, "", 1},
		{"it goes", time.Minute, []string{"1", "1", ""}, "", 3},
		{"another one comes meanwhile", time.Minute, []string{"1", "2"}, "", 2},
		{"it comes back", time.Minute, []string{"1", "", "1"}, "", 2},
		{"one of two stays", 10 * time.Second, []string{"12", "1", "13"}, "1", 6},
		{"without patience", 0, []string{"1", ""}, "1", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &cluster{looks: test.looks}
				report, why, err := Audit(t.Context(), Source{Journal: journalOf{}, System: c, Settle: test.settle}, 0)
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				for _, f := range report.Findings {
					if f.Kind == Reservation {
						got += fmt.Sprint(f.Job)
					}
				}
				if got != test.want || c.calls != test.calls {
					t.Errorf("reservations of the jobs %q are found after %d looks, want %q after %d", got, c.calls, test.want, test.calls)
				}
				if report.Unread != 3 || why != "a row" {
					t.Errorf("%d rows are not read, for %q", report.Unread, why)
				}
			})
		})
	}
}

func TestAWatchSeesTheClusterOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{looks: []string{""}}
		report, _, err := Audit(t.Context(), Source{Journal: journalOf{}, System: c, Watch: 10 * time.Second}, 0)
		if err != nil || report.Sightings != 11 {
			t.Errorf("%d looks in ten seconds (%v), want 10 and the last", report.Sightings, err)
		}
	})
}
