package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"accordion/adapter/embedded"
	"accordion/shim/wire/launcher"
)

// arrival is how a part's job arrives at the barrier.
type arrival string

const (
	prompt arrival = "prompt"
	late   arrival = "late"   // the job is delayed, sometimes until its application's start was given up
	stuck  arrival = "stuck"  // the job never arrives
	broken arrival = "broken" // the job fails before it arrives
	torn   arrival = "torn"   // the job's session ends at the barrier, and the job opens another one
)

// arrives draws how a part arrives.
func (u *user) arrives(c int, nth int) arrival {
	all := []arrival{late, stuck, broken, torn}
	name := fmt.Sprint("arrival ", u.nth, " ", c)
	if k := u.loop.dice.below(len(all)*10, name, nth); k < len(all) {
		return all[k]
	}
	return prompt
}

// part returns the script of the user's job on cluster c. The script waits at the barrier, works, and reports its end.
func (u *user) part(c int) embedded.Script {
	return func(ctx context.Context, h *embedded.Handle) error {
		d, w, job := u.loop, u.loop.clusters[c], int64(h.Job().ID)
		how := u.arrives(c, w.count(fmt.Sprint("part ", u.nth)))
		w.note("the part of application %d on job %d is %s", u.app, job, how)
		d.tally.add("part: "+string(how), 1)
		pause := time.Duration(0)
		switch name := fmt.Sprint("pause ", u.nth, " ", c); how {
		case late:
			pause = d.dice.span(time.Second, (bringUp+10)*time.Second, name, int(job))
		case stuck:
			pause = time.Hour
		case broken:
			pause = d.dice.span(0, 5*time.Second, name, int(job))
		}
		if err := h.Work(ctx, pause); err != nil {
			return err
		}
		if how == broken {
			return errBroken
		}
		for try := 0; ; try++ {
			p := d.connect(u, &launcher.Hello{Version: launcher.Version, Speaks: []int{launcher.Version}, Part: &launcher.Part{Cluster: clusterName(c), Job: job}})
			d.send(p, &launcher.Ready{Job: job})
			again, err := true, error(nil)
			if how != torn || try > 0 {
				again, err = u.barrier(ctx, p, c, h)
			}
			d.hangUp(p)
			if !again {
				return err
			}
			if err := h.Work(ctx, d.dice.span(time.Second, 2*time.Second, fmt.Sprint("barrier ", w.scenario.seed, h.Job().ID), try)); err != nil {
				return err
			}
		}
	}
}

func (u *user) barrier(ctx context.Context, p *conn, c int, h *embedded.Handle) (again bool, err error) {
	d, w := u.loop, u.loop.clusters[c]
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case x, open := <-p.said:
			if !open {
				return true, nil
			}
			switch x := x.(type) {
			case *launcher.Abort, *launcher.Refuse:
				return false, errBroken
			case *launcher.Go:
				u.begins(x, c, h)
				if err := h.Work(ctx, u.lasts); err != nil {
					return false, err
				}
				w.note("the part of application %d on job %d is done", u.app, h.Job().ID)
				d.send(p, &launcher.Done{})
				_ = h.Work(ctx, 2*time.Second)
				return false, nil
			}
		}
	}
}

// begins checks, when a part begins its work, that the job has the nodes in the message that let the part continue.
func (u *user) begins(g *launcher.Go, c int, h *embedded.Handle) {
	w := u.loop.clusters[c]
	for i, on := range g.Hosts {
		if g.Names[i] != clusterName(c) {
			continue
		}
		told, has := slices.Sorted(slices.Values(on.Hosts)), slices.Sorted(slices.Values(h.Nodes()))
		if !slices.Equal(told, has) && len(w.restarts) == 0 {
			w.violation("job %d of application %d has %v, and was told %v", h.Job().ID, u.app, has, told)
		}
		return
	}
	w.violation("job %d of application %d was let through, and has no part in it: %+v", h.Job().ID, u.app, g)
}
