package setup

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"accordion/oar/database"
)

// triggers are PostgreSQL triggers. They notify listeners (LISTEN accordion) of each changed state of a job or a node when OAR's
// transaction commits. The payload for a job is {"job":7,"old":"Waiting","new":"toLaunch","queue":"evolve"}; old is null for a new job. The
// payload for a node is {"node":"n3","old":"Alive","new":"Absent"}, sent once for each of the node's resources.
var triggers = []struct{ name, table, when, payload string }{
	{"accordion_job_submitted", "jobs", "AFTER INSERT ON jobs FOR EACH ROW",
		"json_build_object('job', NEW.job_id, 'old', NULL, 'new', NEW.state, 'queue', NEW.queue_name)"},
	{"accordion_job_state", "jobs", "AFTER UPDATE OF state ON jobs FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state)",
		"json_build_object('job', NEW.job_id, 'old', OLD.state, 'new', NEW.state, 'queue', NEW.queue_name)"},
	{"accordion_node_state", "resources", "AFTER UPDATE OF state ON resources FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state)",
		"json_build_object('node', NEW.network_address, 'old', OLD.state, 'new', NEW.state)"},
}

const triggersLine = "triggers that tell of jobs and nodes on channel " + database.Channel

// source returns the body of a trigger's function.
func source(payload string) string {
	return fmt.Sprintf(`
				BEGIN PERFORM pg_notify('%s', %s::text); RETURN NULL; END `, database.Channel, payload)
}

// makeTriggers replaces the functions, which needs no locks, and creates missing triggers. It does not replace existing triggers, because
// that would have to wait for every reader of the table. So if a later version changes when a trigger fires, it must also change the
// trigger's name.
func (s Setup) makeTriggers(ctx context.Context, d setupStore) (string, error) {
	had, err := d.triggersThere(ctx)
	if err != nil {
		return "", err
	}
	for _, t := range triggers {
		function := fmt.Sprintf("CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql AS $$%s$$", t.name, source(t.payload))
		if slices.Contains(had, t.name) {
			err = d.atOnce(ctx, "making the function of the trigger "+t.name, function)
		} else {
			err = s.waitForTable(ctx, d, t.table, func() error {
				return d.atOnce(ctx, "making the trigger "+t.name, lockPatience, function, fmt.Sprintf("DROP TRIGGER IF EXISTS %s ON %s", t.name, t.table),
					fmt.Sprintf("CREATE TRIGGER %s %s EXECUTE PROCEDURE %s()", t.name, t.when, t.name))
			})
		}
		if err != nil {
			return "", err
		}
	}
	switch len(had) {
	case len(triggers):
		return "there: " + triggersLine, nil
	case 0:
		return "made: " + triggersLine, nil
	}
	return fmt.Sprintf("mended: %s: of %d there were %d", triggersLine, len(triggers), len(had)), nil
}

// atOnce executes all of the statements or none, in one transaction.
func (d setupStore) atOnce(ctx context.Context, doing string, statements ...string) error {
	return d.Transaction(ctx, func(tx *sql.Tx) error { return database.Run(ctx, tx, doing, statements...) })
}

// triggersThere returns the names of Accordion's triggers that exist and are enabled.
func (d setupStore) triggersThere(ctx context.Context) ([]string, error) {
	return d.triggersThat(ctx, "t.tgenabled = 'O'")
}

func (d setupStore) triggersThat(ctx context.Context, are string) ([]string, error) {
	var names []string
	for _, t := range triggers {
		names = append(names, "'"+t.name+"'")
	}
	query := "SELECT CAST(t.tgname AS TEXT) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE " + are + ` AND c.relnamespace = ANY (SELECT oid
		FROM pg_namespace WHERE nspname = ANY (current_schemas(false))) AND t.tgname IN (` + strings.Join(names, ", ") + ")"
	return database.Column[string](ctx, d.Sql, "the triggers", query)
}

// removeTriggers removes the triggers that exist, each with its function.
func (s Setup) removeTriggers(ctx context.Context, d setupStore) (string, error) {
	had, err := d.triggersThat(ctx, "1 = 1")
	if err != nil {
		return "", err
	}
	for _, t := range triggers {
		function := fmt.Sprintf("DROP FUNCTION IF EXISTS %s()", t.name)
		if !slices.Contains(had, t.name) {
			err = d.atOnce(ctx, "removing the function of the trigger "+t.name, function)
		} else {
			err = s.waitForTable(ctx, d, t.table, func() error {
				return d.atOnce(ctx, "removing the trigger "+t.name, lockPatience, fmt.Sprintf("DROP TRIGGER IF EXISTS %s ON %s", t.name, t.table), function)
			})
		}
		if err != nil {
			return "", err
		}
	}
	if len(had) == 0 {
		return "not there: " + triggersLine, nil
	}
	return "removed: " + triggersLine, nil
}
