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

// companionsPatience is how long it may take for a companion: OAR does nothing else meanwhile.
const companionsPatience = 3 * time.Second

// Epilogue does what is left to do when a job is over: what it has on its companions' nodes is ended, their cpusets are cleaned, and OAR is
// asked to end them. It says how many there were. The sidecar does that too, and sooner; this is the second net, for when it does not run.
//
// When the job is a companion, as one that its user has deleted, its nodes are cleaned, before another job can have them.
func Epilogue(ctx context.Context, conf conf.Conf, job int64) (ended int, err error) {
	ctx, cancel := context.WithTimeout(ctx, conf.EpiloguePatience())
	defer cancel()
	opened, err := database.Open(conf)
	if err != nil {
		return 0, err
	}
	defer opened.Close()
	d := hookStore{tables.Tables{DB: opened}}
	companions, base, err := d.Kin(ctx, job)
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
	return ended, errors.Join(err, failed, d.blame(ctx, job, bad))
}

// hookStore is what the hooks read and write.
type hookStore struct{ tables.Tables }

// afterCompanion cleans the nodes of a companion. Where OAR locks tables, they are locked by who waits for us: there it is the sidecar's
// to do, or it is done when the companion's job is over; so it is where it takes long.
func (d hookStore) afterCompanion(ctx context.Context, c Sets, base, companion int64) error {
	if d.OARLocksTables() {
		return nil
	}
	within, done := context.WithTimeout(ctx, companionsPatience)
	defer done()
	bad, err := c.Clean(within, base, tables.CpusetsOf(companion))
	if within.Err() != nil {
		return fmt.Errorf("the nodes of companion %d of job %d are not clean yet: %w", companion, base, within.Err())
	}
	return errors.Join(err, d.blame(ctx, base, bad))
}

// blame has nodes suspected that could not be cleaned, and says so.
func (d hookStore) blame(ctx context.Context, base int64, bad []BadNode) error {
	if len(bad) == 0 {
		return nil
	}
	err := fmt.Errorf("cleaning the cpuset of job %d: %w", base, bad[0].Err)
	if _, failed := d.Suspect(ctx, base, NamesOf(bad), bad[0].Err); failed != nil {
		return errors.Join(err, failed)
	}
	return errors.Join(err, d.poke(ctx, server.Checks))
}

// poke tells OAR's server that there is something to do.
func (d hookStore) poke(ctx context.Context, word string) error {
	return server.Tell(ctx, net.JoinHostPort(d.Conf.Server, strconv.Itoa(d.Conf.ServerPort)), word)
}

// endCompanions asks OAR to end those of a job's companions that nobody has asked to end yet, and says how many there were.
func (d hookStore) endCompanions(ctx context.Context, job int64) (ended int, err error) {
	left, err := d.Left(ctx, job)
	if err != nil || len(left) == 0 {
		return 0, err
	}
	if err := d.Change(ctx, func(tx *sql.Tx) error { return d.Frag(ctx, tx, time.Now().Unix(), left...) }); err != nil {
		return 0, fmt.Errorf("ending the companions: %w", err)
	}
	if err := d.poke(ctx, server.Ends); err != nil {
		return len(left), fmt.Errorf("telling OAR's server to end the companions: %w", err)
	}
	return len(left), nil
}
