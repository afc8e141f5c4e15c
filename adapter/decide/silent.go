package decide

import (
	"context"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/managed"
	"accordion/core"
)

// Applications that never call `accordion step` are resized at their planned seconds and told: the job's hosts file is
// rewritten, then its batch script gets a signal. After a growth it may use the new nodes; a shrink is announced some
// seconds before, because it kills what runs on the leaving nodes at once.

// speak is what a silent job has to be told now, and whether there is anything.
func (s Situation) speak(r *managed.Job) (d Decision, spoken bool) {
	if len(r.EP()) < 2 && r.Untold == nil {
		return d, false
	}
	switch {
	case r.Voice == managed.UnheardVoice:
		return s.listen(r), true
	case r.Untold != nil:
		return s.tellLoss(r), true
	case r.Voice != managed.SilentVoice && (r.Told == 0 || r.Told > r.Resizes): // one that speaks has a file since it was told of a loss
		return d, false
	case r.Voice != managed.SilentVoice:
		return s.publish(r, message{nodes: r.Nodes, step: r.Step, generation: r.Resizes}, func(core.Time) Outcome { r.Told = r.Resizes + 1; return Outcome{Save: true} }), true
	case r.Told <= r.Resizes: // what it holds changed since it was told
		m := message{nodes: r.Nodes, step: r.Step, generation: r.Resizes}
		if r.Told > 0 {
			m.says = fmt.Sprintf("step %d of %d: %d nodes, %s", r.Step+1, len(r.EP()), len(r.Nodes), nodesOf(r.Nodes))
			m.signal = r.Step > 0 && len(r.Nodes) > r.EP()[r.Step-1].Nodes // of a shrink it was told before
		}
		return s.publish(r, m, func(core.Time) Outcome { r.Told = m.generation + 1; return Outcome{Save: true} }), true
	case !r.Final() && !r.Noticed && r.EP()[r.Step+1].Nodes < len(r.Nodes) && s.World.Now >= r.Due()-s.World.Settings.Silent.Notice:
		keep, due := r.Kept(r.EP()[r.Step+1].Nodes), r.Due()
		gone := slices.DeleteFunc(slices.Clone(r.Nodes), func(n string) bool { return contains(keep, n) })
		says := fmt.Sprintf("at %s this job gives back %s, and what runs there is killed; %s stays", adapter.Instant(due).Format(time.TimeOnly), nodesOf(gone), nodesOf(keep))
		return s.publish(r, message{nodes: keep, step: r.Step + 1, generation: r.Resizes + 1, says: says, signal: true}, func(at core.Time) Outcome {
			if r.Noticed = true; at+heed > due {
				r.Heeds = at + heed
			}
			return Outcome{Save: true, Events: []Event{{"noticed", fmt.Sprintf("told that it shrinks to %d nodes", len(keep)), map[string]any{"keep": nodesOf(keep), "planned": due}}}}
		}), true
	}
	return d, false
}

// tellLoss tells a job, whether it speaks or not, that it has lost nodes in the middle of its step: what runs there is gone, and what
// its application starts next must not go there. One that speaks gets no signal: it is prepared for none.
func (s Situation) tellLoss(r *managed.Job) Decision {
	lost := slices.Clone(r.Untold)
	m := message{
		nodes: r.Nodes, step: r.Step, generation: r.Resizes, signal: r.Voice == managed.SilentVoice,
		says: fmt.Sprintf("this job has lost %s; step %d of %d goes on with %d nodes, %s", nodesOf(lost), r.Step+1, len(r.EP()), len(r.Nodes), nodesOf(r.Nodes)),
	}
	return s.publish(r, m, func(core.Time) Outcome {
		r.Told = m.generation + 1
		if r.Untold = slices.DeleteFunc(r.Untold, func(n string) bool { return contains(lost, n) }); len(r.Untold) == 0 {
			r.Untold = nil
		}
		return Outcome{Save: true}
	})
}

// tellWord tells a job's user what is still to be told. A hosts file says until when its step lasts: it is made true with it, unless it
// is about the next step already.
func (s Situation) tellWord(r *managed.Job) Decision {
	key, word := r.Key, r.Word
	told := func(core.Time) Outcome {
		if r.Word == word {
			r.Word = ""
		}
		return Outcome{Save: true}
	}
	if r.Told > r.Resizes && !r.Noticed {
		return s.publish(r, message{nodes: r.Nodes, step: r.Step, generation: r.Resizes, says: word}, told)
	}
	return Decision{Do: &Operation{
		Verb: "tell", Talk: true,
		Acts: func(ctx context.Context, a *actions.Acts) error { return a.Tell(ctx, key, word) },
		Done: func(now time.Time) Outcome { return told(now.Unix()) },
	}}
}

// listen finds out whether the job asks for its steps itself. One whose script cannot be read is taken to.
func (s Situation) listen(r *managed.Job) Decision {
	key, speaks := r.Key, true
	return Decision{Do: &Operation{
		Verb: "listen", Talk: true,
		Acts: func(ctx context.Context, a *actions.Acts) error {
			if heard, err := a.Speaks(ctx, key); err == nil {
				speaks = heard
			}
			return nil
		},
		Done: func(time.Time) Outcome {
			if r.Voice = managed.SpeakingVoice; !speaks && r.Asks == nil {
				r.Voice = managed.SilentVoice
			}
			return Outcome{Save: true}
		},
	}}
}

// message is what a silent job is told.
type message struct {
	nodes            []string // for its hosts file
	step, generation int
	says             string // for its output; "": nothing
	signal           bool
}

// tries is how often a hosts file that cannot be written is tried, and once at each change from then on. After that the job
// goes on without: its nodes are promised to others.
const tries = 3

// heed is how many seconds a job has that was told so late of a shrink that its second would come before: where a node is slow to be reached
// what runs on the leaving nodes would be killed in the moment in which it is told.
const heed core.Time = 2

// publish rewrites the job's hosts file, then tells its user and its batch script. told is called when that is over, with the second, whether
// the file could be written or not; 0: it could not.
func (s Situation) publish(r *managed.Job, m message, told func(at core.Time) Outcome) Decision {
	text, signal := r.Hosts(m.nodes, m.step, m.generation), s.World.Settings.Silent.Signal
	job := *r.Seen
	job.Nodes = m.nodes
	first, last := r.Unwritten+1 == tries, r.Unwritten+1 >= tries
	var elsewhere string
	var unwritten error
	return Decision{Do: &Operation{
		Verb: "publish", Talk: true,
		Acts: func(ctx context.Context, a *actions.Acts) error {
			elsewhere, unwritten = a.Publish(ctx, &job, text, m.generation, m.nodes)
			switch {
			case actions.Broken(unwritten) != nil:
				return unwritten
			case unwritten != nil && !last:
				return nil
			case unwritten != nil && first:
				if err := a.Tell(ctx, job.Key, fmt.Sprintf("the hosts file of this job cannot be written: %v", unwritten)); err != nil {
					return err
				}
			}
			if elsewhere != "" {
				if err := a.Tell(ctx, job.Key, fmt.Sprintf("the hosts file of this job is %s: another user has the usual folder", elsewhere)); err != nil {
					return err
				}
			}
			if m.says != "" {
				if err := a.Tell(ctx, job.Key, m.says); err != nil {
					return err
				}
			}
			if !m.signal {
				return nil
			}
			return a.Signal(ctx, job.Key, signal)
		},
		Done: func(now time.Time) Outcome {
			if unwritten == nil {
				r.Unwritten = 0
				o := told(now.Unix())
				if elsewhere != "" {
					o.Notice = fmt.Sprintf("the job's hosts file is %s: another user has the usual folder", elsewhere)
				}
				return o
			}
			notice := fmt.Sprintf("the job's hosts file cannot be written: %v", unwritten)
			if r.Unwritten++; !last {
				return Outcome{Notice: notice, Retry: 3 * time.Second}
			}
			o := told(0)
			o.Notice = notice
			o.Events = append([]Event{{"untold", fmt.Sprintf("its hosts file cannot be written: %v", unwritten), nil}}, o.Events...)
			return o
		},
	}}
}
