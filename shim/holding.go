package shim

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"accordion/core/hostlist"
	"accordion/shim/allocation"
	"accordion/shim/wire"
)

// holding is what a job has.
type holding struct {
	nodes       []string        // all of them
	allocations allocation.List // of a job with companions, its own first; nil: its own has all nodes
}

// own are the nodes of the job's own allocation.
func (h holding) own() []string {
	if len(h.allocations) > 0 {
		return h.allocations[0].Nodes
	}
	return h.nodes
}

// replied is what the sidecar says that the job has; no nodes where it cannot say.
func (j job) replied(r wire.Reply) (holding, error) {
	nodes, err := hostlist.Expand(r.Nodes)
	if err != nil {
		return holding{}, fmt.Errorf("the sidecar's nodes: %w", err)
	}
	h := holding{nodes: nodes}
	if len(r.Allocations) < 2 {
		return h, nil
	}
	for _, a := range r.Allocations {
		of, err := hostlist.Expand(a.Nodes)
		if err != nil {
			return holding{}, fmt.Errorf("the sidecar's nodes of job %d: %w", a.Job, err)
		}
		hostlist.Sort(of)
		h.allocations = append(h.allocations, allocation.Allocation{Job: a.Job, Nodes: of})
	}
	if first := h.allocations[0].Job; first != j.id {
		return holding{}, fmt.Errorf("the sidecar's first allocation is job %d, not this one", first)
	}
	h.nodes = h.allocations.Nodes()
	return h, nil
}

// present is what the batch system says that the job has, else what the environment says.
func (j job) present(ctx context.Context) holding {
	nodes, err := j.system.ask(ctx, j.id)
	if err != nil {
		nodes = j.system.described(j.env)
	}
	known, err := allocation.Parse(j.own(allocation.Variable))
	if err != nil || len(known) < 2 || len(nodes) == 0 || known[0].Job != j.id {
		return holding{nodes: nodes}
	}
	hostlist.Sort(nodes)
	list := append(allocation.List{{Job: j.id, Nodes: nodes}}, j.remaining(ctx, known[1:])...)
	if len(list) < 2 {
		return holding{nodes: nodes}
	}
	return holding{nodes: list.Nodes(), allocations: list}
}

// remaining are the companions that still run, with the nodes that they have now. One of which the batch system says nothing is
// taken to be as it was.
func (j job) remaining(ctx context.Context, companions allocation.List) allocation.List {
	var asking sync.WaitGroup
	now := make(allocation.List, len(companions))
	for i, c := range companions {
		asking.Go(func() {
			nodes, err := j.system.ask(ctx, c.Job)
			hostlist.Sort(nodes)
			switch {
			case err == nil:
				now[i] = allocation.Allocation{Job: c.Job, Nodes: nodes}
			case !isOver(err):
				now[i] = c
			}
		})
	}
	asking.Wait()
	var list allocation.List
	for _, c := range now {
		if c.Job != 0 {
			list = append(list, c)
		}
	}
	return list
}

// describe makes the environment speak of what the job has; of nothing when that is not known, so that it stays as it is.
func (j job) describe(text *script, h holding) (says []string) {
	if len(h.nodes) == 0 {
		return nil
	}
	hostlist.Sort(h.nodes)
	text.export(variableJob, strconv.FormatInt(j.id, 10))
	text.export(variableNodelist, hostlist.Compact(h.nodes))
	text.export(variableNodes, strconv.Itoa(len(h.nodes)))
	says = j.system.export(text, j, h)
	path, err := writeList(j, "hosts", variableHostfile, h.nodes)
	if err != nil {
		text.unset(variableHostfile) // an old one would be wrong
		return append(says, fmt.Sprintf("no %s: %v", variableHostfile, err))
	}
	text.export(variableHostfile, path)
	return says
}
