package scheduler

import (
	"context"
	"fmt"
	"time"

	"accordion/oar/conf"
	"accordion/oar/database"
)

// lookAtQueue is the interval at which the queue's state is polled, because OAR sends no notification when it switches a queue off.
const lookAtQueue = 100 * time.Millisecond

// Reactivate switches a queue on again after OAR has switched it off because the queue's scheduler was killed by a signal. It first calls
// `goOn`, which lets OAR continue. Then it polls until OAR has switched the queue off, or ctx ends. If the queue is already off at the
// beginning, Reactivate does nothing, because an administrator has switched it off.
func Reactivate(ctx context.Context, conf conf.Conf, queue string, goOn func() error) error {
	db, err := database.Open(conf)
	if err != nil {
		return err
	}
	defer db.Close()
	active := func() (bool, error) {
		query := "SELECT state FROM queues WHERE queue_name = " + db.Arg(1)
		state, err := database.Value[string](ctx, db.Sql, "the state of queue "+queue, query, queue)
		return state == "Active", err
	}
	if on, err := active(); err != nil || !on {
		return err
	}
	if err := goOn(); err != nil {
		return err
	}
	look := time.NewTicker(lookAtQueue)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil
		}
		on, err := active()
		if err != nil {
			return err
		}
		if on {
			continue
		}
		query := "UPDATE queues SET state = 'Active' WHERE queue_name = " + db.Arg(1)
		if _, err := db.Sql.ExecContext(ctx, query, queue); err != nil {
			return fmt.Errorf("switching queue %s on again: %w", queue, err)
		}
		return nil
	}
}
