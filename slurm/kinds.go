package slurm

import (
	"context"
	"errors"
	"slices"

	"accordion/adapter"
	"accordion/slurm/client"
	"accordion/slurm/output"
)

// This file groups the pool's nodes into kinds and determines on which kinds a job can run. It compares CPUs,
// memory and generic resources itself. It evaluates only simple feature expressions (-C). For the others it asks
// Slurm, once for each expression and kind.

// A featureMatch identifies a query: whether a feature expression matches a kind of nodes.
type featureMatch struct{ expression, kind string }

// maxFeatureQueries limits how many expressions are sent to Slurm in one reading, because each query starts a client
// program.
const maxFeatureQueries = 4

// setKinds sets the kind of each node. If a job cannot run on all kinds of nodes, setKinds sets the kinds on which
// it can run. It blocks a pending managed job until Slurm has evaluated the job's feature expression.
func (s *System) setKinds(ctx context.Context, in *output.Inventory, jobs []output.Record) {
	pool, err := output.PoolNodes(*in, s.Pool)
	if err != nil {
		return // Observe returns the error
	}
	in.SetKinds(s.Pool)
	kinds := map[string]*output.Node{}
	var names []string
	for i := range in.Nodes {
		n := &in.Nodes[i]
		if pool[n.Name] && kinds[n.Kind] == nil {
			kinds[n.Kind] = n
			names = append(names, n.Kind)
		}
	}
	slices.Sort(names)
	asks := maxFeatureQueries
	for i := range jobs {
		r := &jobs[i]
		if r.State != adapter.Pending && adapter.RequestOf(&r.Job) == "" {
			continue
		}
		suits := make([]string, 0, len(names))
		for _, name := range names {
			if !kinds[name].Suits(r) {
				continue
			}
			yes, known := s.matchesFeatures(ctx, r, kinds[name], in, &asks)
			if !known && adapter.RequestOf(&r.Job) != "" && r.State == adapter.Pending {
				r.Blocked, r.Why = true, "asking Slurm which nodes -C "+r.Features+" means"
			}
			if yes || !known {
				suits = append(suits, name)
			}
		}
		if len(suits) < len(names) {
			r.Kinds = suits
		}
	}
}

// matchesFeatures reports whether a job's features match a kind of nodes, and whether that is known. It asks Slurm
// only about managed jobs. Slurm does not answer for nodes that are reserved or unusable.
func (s *System) matchesFeatures(ctx context.Context, r *output.Record, of *output.Node, in *output.Inventory, asks *int) (yes, known bool) {
	switch {
	case r.Features == "":
		return true, true
	case output.Simple.MatchString(r.Features):
		return output.Featured(of.Features, r.Features), true
	}
	m := featureMatch{r.Features, of.Kind}
	s.mu.Lock()
	yes, known = s.featureMatches[m]
	s.mu.Unlock()
	if known || adapter.RequestOf(&r.Job) == "" || *asks == 0 {
		return yes, known
	}
	p := in.Partition(r.Partition, s.Pool)
	free := in.Unreserved(of.Kind)
	if p == nil || free == "" {
		return false, false
	}
	*asks--
	_, err := s.Run.Run(ctx, client.Call{Program: "sbatch", Args: []string{
		"--test-only", "--partition=" + p.Name, "--constraint=" + r.Features, "--nodes=1", "--nodelist=" + free, "--wrap=true"}})
	if f := (*client.Failure)(nil); err != nil && (!errors.As(err, &f) || !client.Refused(err, client.NodesUnfit, client.FeatureInvalid)) {
		return false, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.featureMatches == nil || len(s.featureMatches) > 1000 {
		s.featureMatches = map[featureMatch]bool{} // emptied when large, because the jobs of a year have many expressions
	}
	s.featureMatches[m] = err == nil
	return err == nil, true
}
