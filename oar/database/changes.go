package database

import (
	"context"

	"accordion/oar/conf"
)

// Channel is the one on which PostgreSQL's triggers tell that a job or a node has another state (LISTEN accordion). What they
// say is not looked at.
const Channel = "accordion"

// Changes calls soon after a job or a node of OAR's has another state: PostgreSQL tells it, MariaDB is asked each second for the
// number of its newest entry in either log of states. It gives the error that ends it, that of ctx too.
func Changes(ctx context.Context, conf conf.Conf, call func()) error {
	return DialectOf(conf).changes(ctx, conf, call)
}
