package shim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"accordion/core/hostlist"
	"accordion/shim/allocation"
)

// Nodes describes the nodes that the job has now, as Step does, but it ends no step and does not ask the sidecar. It reads the hosts file,
// which the sidecar updates for jobs that never call Step. Without that file it asks the batch system. Its statuses are StatusResized,
// StatusRefused if the nodes are unknown, and StatusUsage.
func Nodes(ctx context.Context, env Getenv) Outcome {
	j, err := findJob(env)
	if err != nil {
		return Usage(err)
	}
	var text script
	path := allocation.Published(env.get("SLURM_CLUSTER_NAME"), j.id)
	h, err := allocation.ReadHosts(path)
	switch {
	case err == nil:
		has := holding{nodes: h.Nodes}
		if len(h.Allocations) > 1 && h.Allocations[0].Job == j.id {
			has = holding{nodes: h.Allocations.Nodes(), allocations: h.Allocations}
		}
		messages := j.describe(&text, has)
		j.exportStep(&text, h.Step, h.Steps, h.Until, h.Generation)
		text.export(variableHosts, path)
		return j.outcome(StatusResized, &text, append([]string{summary(has)}, messages...))
	case !errors.Is(err, os.ErrNotExist):
		return j.outcome(StatusRefused, &text, []string{err.Error()})
	}
	if env.get(variableHosts) != "" {
		text.unset(variableHosts) // the value belongs to the job that submitted this one
	}
	has := j.present(ctx)
	if len(has.nodes) == 0 {
		return j.outcome(StatusRefused, &text, []string{"neither a hosts file nor the batch system says which nodes it has"})
	}
	return j.outcome(StatusResized, &text, append([]string{summary(has)}, j.describe(&text, has)...))
}

// HostsFile returns the path of the hosts file, which the sidecar updates for jobs that never call Step. Its statuses are StatusResized,
// StatusRefused if there is no file yet, and StatusUsage. The outcome's Text is only the path.
func HostsFile(env Getenv) Outcome {
	j, err := findJob(env)
	if err != nil {
		return Outcome{Status: StatusUsage, Message: err.Error()}
	}
	path := allocation.Published(env.get("SLURM_CLUSTER_NAME"), j.id)
	if _, err := allocation.ReadHosts(path); err != nil {
		return Outcome{Status: StatusRefused, Message: fmt.Sprintf("job %d: no hosts file yet: %v", j.id, err)}
	}
	return Outcome{Status: StatusResized, Text: path + "\n", Message: fmt.Sprintf("job %d: its hosts file", j.id)}
}

// summary returns the number of nodes and their names.
func summary(h holding) string {
	return strconv.Itoa(len(h.nodes)) + " nodes, " + hostlist.Compact(h.nodes)
}

// exportStep exports which step the job is in.
func (j job) exportStep(text *script, step, steps int, until int64, generation int) {
	text.export(variableStep, strconv.Itoa(max(step, 1)))
	text.export(variableSteps, strconv.Itoa(steps))
	text.export(variableUntil, strconv.FormatInt(until, 10))
	text.export(variableGeneration, strconv.Itoa(generation))
}
