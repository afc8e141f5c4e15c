package server

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/hashicorp/go-hclog"

	"accordion/oar/conf"
	"accordion/oar/database"
)

// reconnectAfter is the pause before watch connects again after a connection broke.
const reconnectAfter = 2 * time.Second

// watch calls `call` soon after the state of a job or a node has changed, until ctx ends. It also calls `call` after each interruption of
// the connection, because it may have missed changes.
func watch(ctx context.Context, conf conf.Conf, log hclog.Logger, call func()) {
	told := ""
	_, _ = backoff.Retry(ctx, func() (none struct{}, err error) {
		return none, database.Changes(ctx, conf, call)
	}, backoff.WithBackOff(backoff.NewConstantBackOff(reconnectAfter)), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, _ time.Duration) {
		if said := err.Error(); said != told {
			log.Warn("changes in OAR's database are noticed late", "why", err)
			told = said
		}
	}))
}
