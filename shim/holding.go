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

// holding is the nodes and allocations that a job has.
type holding struct {
	nodes       []string        // all nodes of the job
	allocations allocation.List // of a job with companions, its own first; nil if its own allocation has all nodes
}

// own returns the nodes of the job's own allocation.
func (h holding) own() []string {
	if len(h.allocations) > 0 {
		return h.allocations[0].Nodes
	}
	return h.nodes
}

// replied returns what the job has according to the sidecar's reply. The result has no nodes if the sidecar does not know them.
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

// present returns what the job has according to the batch system or, if that does not answer, according to the environment.
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

// remaining returns the companions that still run, with their present nodes. If the batch system does not answer about a companion, the
// companion is returned unchanged.
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
			case !isEnded(err):
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

// describe exports the job's nodes and allocations. If they are unknown, it exports nothing, and the environment stays
// unchanged.
func (j job) describe(text *script, h holding) (messages []string) {
	if len(h.nodes) == 0 {
		return nil
	}
	hostlist.Sort(h.nodes)
	text.export(variableJob, strconv.FormatInt(j.id, 10))
	text.export(variableNodelist, hostlist.Compact(h.nodes))
	text.export(variableNodes, strconv.Itoa(len(h.nodes)))
	messages = j.system.export(text, j, h)
	path, err := writeList(j, "hosts", variableHostfile, h.nodes)
	if err != nil {
		text.unset(variableHostfile) // the previous file would be wrong
		return append(messages, fmt.Sprintf("no %s: %v", variableHostfile, err))
	}
	text.export(variableHostfile, path)
	return messages
}

// writeList writes one node per line to a file of the job, and returns the file's path. The file name ends with `kind`. The environment
// variable `variable` has the path of the file from the last call, which is replaced.
func writeList(j job, kind, variable string, nodes []string) (path string, err error) {
	return allocation.WriteList(j.env.get("TMPDIR"), fmt.Sprintf("%d-*.%s", j.id, kind), j.own(variable), nodes)
}
