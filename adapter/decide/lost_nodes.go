package decide

import (
	"fmt"
	"slices"

	"accordion/adapter/managed"
)

// `lost` returns the nodes on which no job can start, because they are down in the newest
// reading, or not in the pool any more.
func (s Situation) lost(nodes []string) (lost []string) {
	for _, name := range nodes {
		if i, here := s.World.Index[name]; !here || s.World.Snapshot.Nodes[i].Lost {
			lost = append(lost, name)
		}
	}
	return lost
}

// tellLoss informs a job that it has lost nodes in the middle of its step, because the application
// must start nothing on them. Only a silent job gets a signal, because other jobs may not handle
// the signal.
func (s Situation) tellLoss(r *managed.Job) Decision {
	return s.publish(r, message{
		nodes: r.Nodes, step: r.Step, generation: r.Generation, signal: r.StepCalls == managed.StepCallsNever,
		says: fmt.Sprintf("this job has lost %s; step %d of %d goes on with %d nodes, %s", nodesOf(r.UntoldLosses), r.Step+1, len(r.EP()), len(r.Nodes), nodesOf(r.Nodes)),
	}, managed.NodesTold{Generation: r.Generation}, managed.LossTold{Nodes: slices.Clone(r.UntoldLosses)})
}
