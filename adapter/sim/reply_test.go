package sim

import (
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter/embedded"
	"accordion/shim/wire"
)

// An answer may come after the end of its job, for example because a node failed while the answer was on its way. Then no application
// receives it. But an answer that comes much later is a violation.
func TestOnlyAnswerOnItsWayMayArriveAfterAJobsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		told  string
		ends  time.Duration // time after the job's start at which it ends; 0 means after the test
		waits time.Duration
		wrong bool
	}{
		"what it holds":                      {"n[1-2]", 0, time.Second, false},
		"what it does not":                   {"n[1-3]", 0, time.Second, true},
		"what it held until a moment ago":    {"n[1-2]", time.Second, 3 * time.Second, false},
		"what it held when it was read last": {"n[1-2]", time.Second, 2*time.Second + deadline, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(&scenario{nodes: 4}, false)
				var err error
				if w.system, err = w.machine(); err != nil {
					t.Fatal(err)
				}
				defer w.system.Close()
				key, err := w.system.Submit(embedded.JobSpec{User: "ada", Nodes: 2, Limit: 600, Runs: 500})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(c.ends)
				if c.ends > 0 {
					if err := w.system.KillNode("n2"); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(c.waits - c.ends)
				w.judgeReply(wire.Request{Job: int64(key.ID)}, wire.Reply{Status: wire.Resized, Nodes: c.told, Count: map[string]int{"n[1-2]": 2, "n[1-3]": 3}[c.told]})
				if (len(w.wrong) > 0) != c.wrong {
					t.Errorf("blamed is %q", w.wrong)
				}
			})
		})
	}
}
