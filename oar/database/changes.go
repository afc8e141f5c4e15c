package database

import (
	"context"

	"accordion/oar/conf"
)

// Channel is the channel on which PostgreSQL's triggers announce that the state of a job or a node has changed (LISTEN
// accordion). Changes ignores the contents of the notifications.
const Channel = "accordion"

// Changes calls `call` soon after the state of a job or a node has changed in OAR's database. PostgreSQL sends notifications. MariaDB sends
// none, so Changes polls the newest entries of both logs of states each second. Changes returns when ctx ends or the connection breaks,
// always with an error.
func Changes(ctx context.Context, conf conf.Conf, call func()) error {
	return DialectOf(conf).changes(ctx, conf, call)
}
