package scheduler

import (
	"context"
	"fmt"
	"time"

	"accordion/oar/conf"
	"accordion/oar/database"
)

// lookAtQueue is how often the queue's state is read: OAR does not notify when it switches a queue off.
const lookAtQueue = 100 * time.Millisecond

// Reactivate switches a queue on again that OAR is about to switch off because its scheduler died by a signal. goOn
// lets OAR continue. Then Reactivate polls until OAR has switched the queue off, or ctx ends. It does nothing for a
// queue that is already off: someone did that on purpose.
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
