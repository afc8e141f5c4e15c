package tables

import (
	"context"
	"errors"
	"fmt"

	"accordion/oar/database"
)

// locks is the table of locks (database.Exclusive). No row of it is ever committed. The account that may only read has
// no right to it, so no SQL of a user takes such a lock.
var locks = table{"accordion_locks", `
	number BIGINT NOT NULL PRIMARY KEY
`}

// InstallLock is the lock for installing and uninstalling. Two processes at once would both find a rule missing, and
// add it twice. The lock of a job has the job's ID.
const InstallLock = 0

// WithLock runs do while no other process does anything under the same lock. It creates the table where it does not
// exist: an older Accordion had none.
func (d Tables) WithLock(ctx context.Context, number int64, do func() error) error {
	row := fmt.Sprintf("%s (number) VALUES (%d)", locks.name, number)
	err := d.Exclusive(ctx, row, do)
	if errors.Is(err, database.ErrNoTable) {
		if err = d.create(ctx, locks); err == nil {
			err = d.Exclusive(ctx, row, do)
		}
	}
	return err
}

// DropLocks removes the table, once no process does anything under a lock.
func (d Tables) DropLocks(ctx context.Context) error { return d.drop(ctx, locks) }
