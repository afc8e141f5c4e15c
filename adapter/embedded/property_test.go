package embedded

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"accordion/adapter"
	"accordion/core"
)

// command is one random action. The meaning of its numbers depends on the action.
type command struct {
	What       string
	Wait       int // seconds before the action
	Job, Other int // indices into the list of jobs that were submitted so far
	Nodes      int
	From, For  int
	Flag       bool
}

var commands = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) command {
	return command{
		What: rapid.SampledFrom([]string{
			"submit", "submit", "submit", "cancel", "kill", "revive", "drain", "reserve", "reserve", "unreserve",
			"attach", "release", "hold", "detach", "shape", "expand", "expand", "merge", "merge", "shrink", "end", "adopt",
		}).Draw(t, "what"),
		Wait: rapid.IntRange(0, 20).Draw(t, "wait"), Job: rapid.IntRange(0, 9).Draw(t, "job"),
		Other: rapid.IntRange(0, 9).Draw(t, "other"), Nodes: rapid.IntRange(1, 31).Draw(t, "nodes"),
		From: rapid.IntRange(0, 30).Draw(t, "from"), For: rapid.IntRange(1, 60).Draw(t, "for"),
		Flag: rapid.Bool().Draw(t, "flag"),
	}
}), 1, 60)

// subset returns the nodes whose bits are set in the mask.
func subset(mask int) (nodes []string) {
	for i := range 5 {
		if mask>>i&1 == 1 {
			nodes = append(nodes, fmt.Sprintf("n%d", i+1))
		}
	}
	return nodes
}

// play carries out random commands, and checks the state after each command. Most commands are
// invalid and return errors, which play ignores.
func play(s *System, todo []command) error {
	ctx := context.Background()
	var keys []adapter.Key
	for i, c := range todo {
		time.Sleep(time.Duration(c.Wait) * time.Second)
		key, other := adapter.Key{}, adapter.Key{}
		if len(keys) > 0 {
			key, other = keys[c.Job%len(keys)], keys[c.Other%len(keys)]
		}
		name := fmt.Sprintf("accordion-%d", c.Other%3)
		node := fmt.Sprintf("n%d", c.Nodes%5+1)
		now := time.Now().Unix()
		switch c.What {
		case "submit":
			spec := JobSpec{User: "ada", Nodes: c.Nodes%5 + 1, Limit: core.Time(c.For), Runs: core.Time(c.From), Requeue: c.Flag}
			spec.Managed, spec.Comment = c.Other%2 == 0, "ep=1x10s"
			k, err := s.Submit(spec)
			if err != nil {
				return fmt.Errorf("command %d: %w", i, err)
			}
			keys = append(keys, k)
		case "cancel":
			_ = s.Cancel(key)
		case "kill":
			_ = s.KillNode(node)
		case "revive":
			_ = s.ReviveNode(node)
		case "drain":
			_ = s.DrainNode(node)
		case "reserve":
			start := now + core.Time(c.From)
			_ = s.Reserve(ctx, adapter.Reservation{
				Name: name, User: "ada", Nodes: subset(c.Nodes), Start: start, End: start + core.Time(c.For), OverManaged: c.Flag,
			})
		case "unreserve":
			_ = s.Unreserve(ctx, name)
		case "attach":
			_ = s.Attach(ctx, key, name)
		case "release":
			_ = s.Release(ctx, key)
		case "hold":
			_ = s.Hold(ctx, key)
		case "detach":
			_ = s.Detach(ctx, key)
		case "shape":
			_ = s.Shape(ctx, key, adapter.Shape{Nodes: c.Nodes % 7, Limit: core.Time(c.For)})
		case "expand":
			if !c.Flag {
				name = ""
			}
			if k, err := s.Expand(ctx, &adapter.Job{Key: key}, subset(c.Nodes), name); err == nil {
				keys = append(keys, k)
			}
		case "merge":
			_ = s.Merge(ctx, key, other)
		case "shrink":
			_ = s.Shrink(ctx, key, subset(c.Nodes))
		case "end":
			_ = s.End(ctx, key, "enough")
		case "adopt":
			_ = s.Adopt(ctx, key)
		}
		if err := judge(s); err != nil {
			return fmt.Errorf("after command %d, %+v: %w", i, c, err)
		}
	}
	time.Sleep(time.Hour)
	return judge(s)
}

// judge reads the system as the sidecar does. It checks that each node that is not idle is in the list
// of nodes of exactly one job.
func judge(s *System) error {
	snap, err := s.Observe(context.Background())
	if err != nil {
		return err
	}
	holder := map[string]core.JobID{}
	for _, j := range snap.Jobs {
		if j.State == adapter.Pending && len(j.Nodes) > 0 || j.State == adapter.Running && len(j.Nodes) == 0 {
			return fmt.Errorf("%s job %d holds %v", j.State, j.ID, j.Nodes)
		}
		for _, n := range j.Nodes {
			if holder[n] != 0 {
				return fmt.Errorf("%s is held by jobs %d and %d", n, holder[n], j.ID)
			}
			holder[n] = j.ID
		}
	}
	for _, n := range snap.Nodes {
		if n.Idle != (holder[n.Name] == 0) {
			return fmt.Errorf("%s idle is %v, its job is %d", n.Name, n.Idle, holder[n.Name])
		}
	}
	for i, a := range snap.Reservations {
		for _, b := range snap.Reservations[:i] {
			shared := slices.ContainsFunc(a.Nodes, func(n string) bool { return slices.Contains(b.Nodes, n) })
			if shared && !(a.Ours() && b.Ours()) && a.Start < b.End && b.Start < a.End {
				return fmt.Errorf("reservations overlap: %+v and %+v", a, b)
			}
		}
	}
	return audit(s.Jobs())
}

func TestNodeIsNeverInTwoJobs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		todo := commands.Draw(rt, "commands")
		o := Options{
			Nodes:     5,
			Sweep:     time.Duration(rapid.SampledFrom([]int{0, 30}).Draw(rt, "sweep")) * time.Second,
			PassDelay: time.Duration(rapid.IntRange(0, 3).Draw(rt, "think")) * time.Second,
		}
		o.Epilog = time.Duration(rapid.IntRange(0, 4).Draw(rt, "epilog")) * time.Second
		var err error
		synctest.Test(t, func(*testing.T) {
			var s *System
			if s, err = New(o); err != nil {
				return
			}
			defer s.Close()
			err = play(s, todo)
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// TestFirstInQueueNeverStartsLaterThanItCould checks that EASY never delays the first job in the
// queue. From the records, the test computes when enough running jobs have reached their time limits
// for the first job to start. The first job must start by then.
func TestFirstInQueueNeverStartsLaterThanItCould(t *testing.T) {
	specs := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) JobSpec {
		limit := rapid.Int64Range(1, 50).Draw(rt, "limit")
		return JobSpec{
			User: "ada", Nodes: rapid.IntRange(1, 6).Draw(rt, "nodes"), Limit: limit,
			Runs: rapid.Int64Range(1, limit).Draw(rt, "runs"), Begin: 0,
		}
	}), 2, 25)
	rapid.Check(t, func(rt *rapid.T) {
		jobs := specs.Draw(rt, "jobs")
		gaps := rapid.SliceOfN(rapid.IntRange(0, 20), len(jobs), len(jobs)).Draw(rt, "gaps")
		var records []Record
		synctest.Test(t, func(t *testing.T) {
			s, err := New(Options{Nodes: 6})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for i, spec := range jobs {
				time.Sleep(time.Duration(gaps[i]) * time.Second)
				if _, err := s.Submit(spec); err != nil {
					t.Error(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
			defer cancel()
			if err := s.Quiet(ctx); err != nil {
				t.Error(err)
			}
			records = s.Jobs()
		})
		for i, head := range records {
			since := head.Submit // since when the job has been the first in the queue
			for _, before := range records[:i] {
				since = latest(since, before.Start)
			}
			if could := earliest(records, head, since, 6); head.Start.After(could) {
				rt.Fatalf("job %d, first in the queue at %v, could start at %v and starts at %v", head.ID, since, could, head.Start)
			}
			if err := audit(records); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// earliest returns the second at which enough of the jobs that run at `since` have reached their
// limits for the job to start.
func earliest(records []Record, head Record, since time.Time, nodes int) time.Time {
	for t := since; ; t = t.Add(time.Second) {
		free := nodes
		for _, r := range records {
			runsThen := r.ID != head.ID && !r.Start.After(since) && r.End.After(since)
			if runsThen && r.Start.Add(seconds(r.Limit)).After(t) {
				free -= r.Want
			}
		}
		if free >= head.Want {
			return t
		}
	}
}
