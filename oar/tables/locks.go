package tables

import (
	"context"
	"errors"
	"fmt"

	"accordion/oar/database"
)

// locks is the table of locks (database.Exclusive). No row of it is ever committed. The read-only account has no access to it, so the SQL
// of users cannot take such a lock.
var locks = table{"accordion_locks", `
	number BIGINT NOT NULL PRIMARY KEY
`}

// InstallLock is the number of the lock for installing and uninstalling. Otherwise two processes could both find a rule missing, and add it
// twice. The number of a job's lock is the job's ID.
const InstallLock = 0

// WithLock runs `do` while it holds a lock, so that no other process acts under the same lock. It creates the table if it does not exist,
// because an older Accordion had none.
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

// DropLocks removes the table, once no process holds a lock.
func (d Tables) DropLocks(ctx context.Context) error { return d.drop(ctx, locks) }
