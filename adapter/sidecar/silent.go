package sidecar

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
)

// Applications that never call `accordion step` are resized at their planned seconds and told: the job's hosts file is
// rewritten, then its batch script gets a signal. After a growth it may use the new nodes; a shrink is announced some
// seconds before, because it kills what runs on the leaving nodes at once.

// speak does what a silent job has to be told now. It says whether an operation was begun.
func (s *Sidecar) speak(ctx context.Context, v *sight, r *record) (bool, error) {
	if len(r.ep()) < 2 {
		return false, nil
	}
	switch {
	case r.Voice == unheard && r.ask != nil:
		r.Voice, r.dirty = speaking, true
		return false, nil
	case r.Voice == unheard:
		s.listen(ctx, r)
		return true, nil
	case r.Voice != silent:
		return false, nil
	case r.Told <= r.Resizes: // what it holds changed since it was told
		m := message{nodes: r.Nodes, step: r.Step, generation: r.Resizes}
		if r.Told > 0 {
			m.says = fmt.Sprintf("step %d of %d: %d nodes, %s", r.Step+1, len(r.ep()), len(r.Nodes), names(r.Nodes))
			m.signal = r.Step > 0 && len(r.Nodes) > r.ep()[r.Step-1].Nodes // of a shrink it was told before
		}
		s.publish(ctx, r, m, func() error { r.Told = m.generation + 1; return s.save(r) })
		return true, nil
	case !r.final() && !r.Noticed && r.ep()[r.Step+1].Nodes < len(r.Nodes) && v.now >= r.due()-s.settings.Silent.Notice:
		keep, due := r.kept(r.ep()[r.Step+1].Nodes), r.due()
		gone := slices.DeleteFunc(slices.Clone(r.Nodes), func(n string) bool { return slices.Contains(keep, n) })
		says := fmt.Sprintf("at %s this job gives back %s, and what runs there is killed; %s stays", seconds(due).Format(time.TimeOnly), names(gone), names(keep))
		s.publish(ctx, r, message{nodes: keep, step: r.Step + 1, generation: r.Resizes + 1, says: says, signal: true}, func() error {
			r.Noticed = true
			if err := s.save(r); err != nil {
				return err
			}
			return s.event(r, "noticed", fmt.Sprintf("told that it shrinks to %d nodes", len(keep)), map[string]any{"keep": names(keep), "planned": due})
		})
		return true, nil
	}
	return false, nil
}

// listen finds out whether the job asks for its steps itself. One whose script cannot be read is taken to.
func (s *Sidecar) listen(ctx context.Context, r *record) {
	speaks := true
	s.begin(ctx, r, "listen", func(ctx context.Context, _ *acting) error {
		ctx, cancel := context.WithTimeout(ctx, s.settings.Deadline)
		defer cancel()
		if heard, err := s.system.Speaks(ctx, r.Key); err == nil {
			speaks = heard
		}
		return nil
	}, func() error {
		if r.Voice = speaking; !speaks && r.ask == nil {
			r.Voice = silent
		}
		return s.save(r)
	})
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

// publish rewrites the job's hosts file, then tells its user and its batch script. done is called when that is over, whether
// the file could be written or not.
func (s *Sidecar) publish(ctx context.Context, r *record, m message, done func() error) {
	text := r.hosts(m.nodes, m.step, m.generation)
	job := *r.seen
	job.Nodes = r.Nodes
	first, last := r.unwritten+1 == tries, r.unwritten+1 >= tries
	var unwritten error
	s.begin(ctx, r, "publish", func(ctx context.Context, a *acting) error {
		args := map[string]any{"generation": m.generation, "nodes": names(m.nodes)}
		unwritten = a.do(ctx, "publish", args, func(ctx context.Context) error { return s.system.Publish(ctx, &job, text) })
		if unwritten != nil && !last {
			return nil
		}
		if unwritten != nil && first {
			a.tell(ctx, fmt.Sprintf("the hosts file of this job cannot be written: %v", unwritten))
		}
		if m.says != "" {
			a.tell(ctx, m.says)
		}
		if !m.signal {
			return nil
		}
		return a.signal(ctx, s.settings.Silent.Signal)
	}, func() error {
		if unwritten == nil {
			r.unwritten = 0
		} else {
			s.notice(r.Key, fmt.Sprintf("the job's hosts file cannot be written: %v", unwritten))
			if r.unwritten++; !last {
				r.retry = s.later(3 * time.Second)
				return nil
			}
			if err := s.event(r, "untold", fmt.Sprintf("its hosts file cannot be written: %v", unwritten), nil); err != nil {
				return err
			}
		}
		return done()
	})
}

// hosts is the text of the job's hosts file: a line of what it is, the allocations where there are several, then a node a line, the
// batch host first.
func (r *record) hosts(nodes []string, step, generation int) string {
	from := r.Began
	if step > 0 {
		from = r.Promise[step-1]
	}
	var text strings.Builder
	fmt.Fprintf(&text, "# generation=%d step=%d steps=%d nodes=%d from=%d until=%d\n", generation, step+1, len(r.ep()), len(nodes), from, r.Promise[step])
	for _, line := range allocationLines(r.parts, nodes) {
		fmt.Fprintln(&text, line)
	}
	for _, n := range nodes {
		fmt.Fprintln(&text, n)
	}
	return text.String()
}

// allocationLines begins with this; a line is not longer than so many bytes, for programs that read the file by lines of 1,023.
const (
	allocationMark  = "# allocations"
	allocationWidth = 1000
)

// allocationLines says which of the nodes are in which of the job's allocations, as `# allocations 42:n[1-2] 57:n3`; an allocation that
// is too long for a line is in several words. Nothing where the job has one allocation.
func allocationLines(parts []adapter.Part, nodes []string) (lines []string) {
	if len(parts) < 2 {
		return nil
	}
	line := allocationMark
	for _, part := range parts {
		staying := slices.DeleteFunc(slices.Clone(part.Nodes), func(n string) bool { return !slices.Contains(nodes, n) })
		for _, word := range allocationWords(part.Job, staying) {
			if len(line)+len(word) > allocationWidth {
				lines, line = append(lines, line), allocationMark
			}
			line += word
		}
	}
	return append(lines, line)
}

func allocationWords(job core.JobID, nodes []string) []string {
	if len(nodes) == 0 {
		return nil
	}
	word := fmt.Sprintf(" %d:%s", job, names(nodes))
	if half := len(nodes) / 2; half > 0 && len(allocationMark)+len(word) > allocationWidth {
		return append(allocationWords(job, nodes[:half]), allocationWords(job, nodes[half:])...)
	}
	return []string{word}
}
