package server

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/hashicorp/go-hclog"

	"accordion/oar/conf"
	"accordion/oar/database"
)

// relisten is after how long the database is watched again when a connection broke.
const relisten = 2 * time.Second

// watch calls, until ctx ends, soon after a job or a node of OAR's has another state. A call that nobody has taken stands for those
// that follow. It calls too when it could not look for a while.
func watch(ctx context.Context, conf conf.Conf, log hclog.Logger, call func()) {
	told := ""
	_, _ = backoff.Retry(ctx, func() (none struct{}, err error) {
		return none, database.Changes(ctx, conf, call)
	}, backoff.WithBackOff(backoff.NewConstantBackOff(relisten)), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, _ time.Duration) {
		if said := err.Error(); said != told {
			log.Warn("changes in OAR's database are noticed later than they could be", "why", err)
			told = said
		}
	}))
}
