package setup

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"accordion/oar/database"
)

// triggers tell whoever listens (LISTEN accordion) that a job or a node has another state, when OAR's transaction is committed.
// PostgreSQL only. A job's payload is {"job":7,"old":"Waiting","new":"toLaunch","queue":"evolve"}, old being null for a new
// job; a node's is {"node":"n3","old":"Alive","new":"Absent"}, once for each of its resources.
var triggers = []struct{ name, table, when, payload string }{
	{"accordion_job_submitted", "jobs", "AFTER INSERT ON jobs FOR EACH ROW",
		"json_build_object('job', NEW.job_id, 'old', NULL, 'new', NEW.state, 'queue', NEW.queue_name)"},
	{"accordion_job_state", "jobs", "AFTER UPDATE OF state ON jobs FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state)",
		"json_build_object('job', NEW.job_id, 'old', OLD.state, 'new', NEW.state, 'queue', NEW.queue_name)"},
	{"accordion_node_state", "resources", "AFTER UPDATE OF state ON resources FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state)",
		"json_build_object('node', NEW.network_address, 'old', OLD.state, 'new', NEW.state)"},
}

const triggersLine = "triggers that tell of jobs and nodes on channel " + database.Channel

// lockPatience is how long a table of OAR's is waited for: as long, whoever comes after us waits, too.
const lockPatience = "SET LOCAL lock_timeout = '5s'"

// makeTriggers makes each function and its trigger anew, for the database does not say whether they are of this version.
func (s Setup) makeTriggers(ctx context.Context, d setupStore) (string, error) {
	had, err := d.triggersThere(ctx)
	if err != nil {
		return "", err
	}
	for _, t := range triggers {
		err := d.atOnce(ctx, "making the trigger "+t.name, lockPatience,
			fmt.Sprintf(`CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql AS $$
				BEGIN PERFORM pg_notify('%s', %s::text); RETURN NULL; END $$`, t.name, database.Channel, t.payload),
			fmt.Sprintf("DROP TRIGGER IF EXISTS %s ON %s", t.name, t.table),
			fmt.Sprintf("CREATE TRIGGER %s %s EXECUTE PROCEDURE %s()", t.name, t.when, t.name))
		if err != nil {
			return "", err
		}
	}
	switch had {
	case len(triggers):
		return "there: " + triggersLine, nil
	case 0:
		return "made: " + triggersLine, nil
	}
	return fmt.Sprintf("mended: %s: of %d there were %d", triggersLine, len(triggers), had), nil
}

// atOnce carries out statements, all of them or none.
func (d setupStore) atOnce(ctx context.Context, doing string, statements ...string) error {
	return d.Transaction(ctx, func(tx *sql.Tx) error { return database.Run(ctx, tx, doing, statements...) })
}

// triggersThere is how many of ours there are, switched on.
func (d setupStore) triggersThere(ctx context.Context) (int, error) {
	var names []string
	for _, t := range triggers {
		names = append(names, "'"+t.name+"'")
	}
	query := `SELECT COUNT(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE t.tgenabled = 'O' AND c.relnamespace = ANY (SELECT oid
		FROM pg_namespace WHERE nspname = ANY (current_schemas(false))) AND t.tgname IN (` + strings.Join(names, ", ") + ")"
	return database.Value[int](ctx, d.Sql, "the triggers", query)
}

func (s Setup) removeTriggers(ctx context.Context, d setupStore) (string, error) {
	had, err := d.triggersThere(ctx)
	if err != nil {
		return "", err
	}
	for _, t := range triggers {
		err := d.atOnce(ctx, "removing the trigger "+t.name, lockPatience,
			fmt.Sprintf("DROP TRIGGER IF EXISTS %s ON %s", t.name, t.table),
			fmt.Sprintf("DROP FUNCTION IF EXISTS %s()", t.name))
		if err != nil {
			return "", err
		}
	}
	if had == 0 {
		return "not there: " + triggersLine, nil
	}
	return "removed: " + triggersLine, nil
}
