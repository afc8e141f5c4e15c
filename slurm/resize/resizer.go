package resize

import (
	"context"

	"accordion/slurm/cluster"
)

// A Resizer makes running jobs larger and smaller. Its methods may be called from several goroutines.
type Resizer struct {
	*cluster.Cluster
	Lost    func(ctx context.Context, nodes []string) error // sets nodes free that Slurm may have lost; nil: of the whole pool
	Limited func()                                          // is called when a limit of the site has kept a job from growing

	pace pacer
}

// New is a hand on a cluster; its caller sets what it calls.
func New(c *cluster.Cluster) *Resizer { return &Resizer{Cluster: c} }
