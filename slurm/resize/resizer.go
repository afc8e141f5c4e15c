package resize

import (
	"context"

	"accordion/slurm/cluster"
)

// A Resizer grows and shrinks running jobs. Its methods may be called from several goroutines.
type Resizer struct {
	*cluster.Cluster
	Lost    func(ctx context.Context, nodes []string) error // frees nodes that Slurm may have lost; if nodes is nil, those of the whole pool
	Limited func()                                          // called when a limit of the site has prevented a job from growing

	pace pacer
}

// New returns a Resizer on the cluster. The caller sets Lost and Limited.
func New(c *cluster.Cluster) *Resizer { return &Resizer{Cluster: c} }
