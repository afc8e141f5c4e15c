package cpuset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/oar/conf"
	"accordion/oar/database"
	"accordion/oar/server"
	"accordion/oar/tables"
)

// companionsTimeout limits the time of cleaning for a companion, because OAR's server does nothing else meanwhile.
const companionsTimeout = 3 * time.Second

// Epilogue cleans up after the job has ended. It ends the processes that still run on the companions' nodes, cleans their cpusets, asks OAR
// to end the companions, and returns the number of companions. A running sidecar does the same earlier; the epilogue is for times when no
// sidecar runs.
//
// If the job itself is a companion, for example one that its user deleted, Epilogue cleans its nodes before another job can get them.
func Epilogue(ctx context.Context, conf conf.Conf, job int64) (ended int, err error) {
	ctx, cancel := context.WithTimeout(ctx, conf.EpiloguePatience())
	defer cancel()
	opened, err := database.Open(conf)
	if err != nil {
		return 0, err
	}
	defer opened.Close()
	d := hookStore{tables.Tables{DB: opened}}
	companions, base, err := d.CompanionsAndBase(ctx, job)
	if err != nil || len(companions) == 0 && base == 0 {
		return 0, err
	}
	c := New(d.Tables, conf.Manager, server.Remote{Command: conf.Remote}, hclog.NewNullLogger())
	if base != 0 {
		return 0, d.afterCompanion(ctx, c, base, job)
	}
	within, done := context.WithTimeout(ctx, conf.EpiloguePatience()*3/4)
	defer done()
	bad, failed := c.Clean(within, job, tables.AllCpusets)
	ended, err = d.endCompanions(ctx, job)
	return ended, errors.Join(err, failed, d.suspectHosts(ctx, job, bad))
}

// hookStore is the part of the database that the epilogue reads and writes.
type hookStore struct{ tables.Tables }

// afterCompanion cleans the nodes of a companion that has ended. With MariaDB it does nothing, because OAR's server holds locks on tables
// while it waits for the epilogue. In that case, and if cleaning takes too long, the sidecar or the epilogue of the base cleans the nodes.
func (d hookStore) afterCompanion(ctx context.Context, c Sets, base, companion int64) error {
	if d.OARLocksTables() {
		return nil
	}
	within, done := context.WithTimeout(ctx, companionsTimeout)
	defer done()
	bad, err := c.Clean(within, base, tables.CpusetsOf(companion))
	if within.Err() != nil {
		return fmt.Errorf("the nodes of companion %d of job %d are not clean yet: %w", companion, base, within.Err())
	}
	return errors.Join(err, d.suspectHosts(ctx, base, bad))
}

// suspectHosts has OAR suspect the nodes that could not be cleaned, and returns the reason as an error.
func (d hookStore) suspectHosts(ctx context.Context, base int64, bad []BadNode) error {
	if len(bad) == 0 {
		return nil
	}
	err := fmt.Errorf("cleaning the cpuset of job %d: %w", base, bad[0].Err)
	if _, failed := d.Suspect(ctx, base, NamesOf(bad), bad[0].Err); failed != nil {
		return errors.Join(err, failed)
	}
	return errors.Join(err, d.notify(ctx, server.Checks))
}

// notify sends a command to OAR's server.
func (d hookStore) notify(ctx context.Context, word string) error {
	return server.Tell(ctx, net.JoinHostPort(d.Conf.Server, strconv.Itoa(d.Conf.ServerPort)), word)
}

// endCompanions asks OAR to end the job's companions that were not asked to end yet, and returns their number.
func (d hookStore) endCompanions(ctx context.Context, job int64) (ended int, err error) {
	left, err := d.CompanionsToEnd(ctx, job)
	if err != nil || len(left) == 0 {
		return 0, err
	}
	if err := d.Change(ctx, func(tx *sql.Tx) error { return d.Frag(ctx, tx, time.Now().Unix(), left...) }); err != nil {
		return 0, fmt.Errorf("ending the companions: %w", err)
	}
	if err := d.notify(ctx, server.Ends); err != nil {
		return len(left), fmt.Errorf("telling OAR's server to end the companions: %w", err)
	}
	return len(left), nil
}
