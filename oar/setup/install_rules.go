package setup

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"accordion/oar/database"
)

// The admission rules for evolving jobs, in Perl. OAR concatenates all rules in the order of their priorities and runs them in each oarsub.
// The first rule removes the types -t ep=… before OAR's own rule 16 would refuse them as unknown. The second rule adds them again.
var (
	//go:embed rules/take.pl
	takeRule string
	//go:embed rules/restore.pl
	restoreRule string
)

// rule is one of these admission rules, as OAR's database stores it.
type rule struct {
	name     string // for messages
	title    string // a line that identifies the rule in every version
	priority int
	Text     string
}

// MostProfile is the maximum number of characters of a job's profiles together. OAR writes all types of a job into the job's message, which
// has at most 255 characters.
const MostProfile = 190

// Rules returns the rules for a queue.
func Rules(queue string) []rule {
	made := []rule{
		{"takes the profile", "# Accordion, 1 of 2:", 10, takeRule},
		{"puts the profile back", "# Accordion, 2 of 2:", 1000, restoreRule},
	}
	for i := range made {
		made[i].Text = strings.ReplaceAll(made[i].Text, "QUEUE_NAME", queue)
	}
	return made
}

// queueName matches names that are safe in a rule, in a query and on a command line.
var queueName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,30}$`)

// known is a copy of one of Accordion's rules in the database.
type known struct {
	id       int64
	priority int
	enabled  bool
	text     string
}

// find reads the copies of a rule in the database. There may be none, one or several.
func (r rule) find(ctx context.Context, d setupStore) ([]known, error) {
	var all []known
	query := "SELECT id, priority, enabled, rule FROM admission_rules WHERE rule LIKE " + d.Arg(1) + " ORDER BY id"
	err := database.Rows(ctx, d.Sql, "the admission rules", query, []any{"%" + r.title + "%"}, func(found *sql.Rows) error {
		var k known
		var enabled string
		err := found.Scan(&k.id, &k.priority, &enabled, &k.text)
		k.enabled = enabled == "YES"
		all = append(all, k)
		return err
	})
	return all, err
}

// as returns how a rule in the database differs from the right rule, or "" if it does not differ.
func (r rule) as(k known) string {
	switch {
	case k.text != r.Text:
		return "it is of another version of Accordion, or of another queue"
	case !k.enabled:
		return "it is switched off"
	case k.priority != r.priority:
		return fmt.Sprintf("its priority is %d, not %d", k.priority, r.priority)
	}
	return ""
}

// install adds the rule to the database, or repairs the existing one, and returns what it did.
func (r rule) install(ctx context.Context, d setupStore) (string, error) {
	found, err := r.find(ctx, d)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		query := fmt.Sprintf("INSERT INTO admission_rules (priority, enabled, rule) VALUES (%d, 'YES', %s)", r.priority, d.Arg(1))
		if _, err := d.Sql.ExecContext(ctx, query, r.Text); err != nil {
			return "", fmt.Errorf("making the admission rule that %s: %w", r.name, err)
		}
		return fmt.Sprintf("made: admission rule (priority %d) that %s", r.priority, r.name), nil
	}
	for _, copied := range found[1:] {
		if err := d.drop(ctx, r, copied.id); err != nil {
			return "", err
		}
	}
	why := r.as(found[0])
	if why == "" && len(found) == 1 {
		return fmt.Sprintf("there: admission rule %d that %s", found[0].id, r.name), nil
	}
	if why == "" {
		why = "it was there more than once"
	}
	query := fmt.Sprintf("UPDATE admission_rules SET priority = %d, enabled = 'YES', rule = %s WHERE id = %d", r.priority, d.Arg(1), found[0].id)
	if _, err := d.Sql.ExecContext(ctx, query, r.Text); err != nil {
		return "", fmt.Errorf("mending admission rule %d: %w", found[0].id, err)
	}
	return fmt.Sprintf("mended: admission rule %d that %s: %s", found[0].id, r.name, why), nil
}

// uninstall removes the rule from the database, and returns what it did.
func (r rule) uninstall(ctx context.Context, d setupStore) (string, error) {
	found, err := r.find(ctx, d)
	if err != nil {
		return "", err
	}
	for _, k := range found {
		if err := d.drop(ctx, r, k.id); err != nil {
			return "", err
		}
	}
	if len(found) == 0 {
		return "not there: admission rule that " + r.name, nil
	}
	return "removed: admission rule that " + r.name, nil
}

func (d setupStore) drop(ctx context.Context, r rule, id int64) error {
	if _, err := d.Sql.ExecContext(ctx, fmt.Sprintf("DELETE FROM admission_rules WHERE id = %d", id)); err != nil {
		return fmt.Errorf("removing admission rule %d, which %s: %w", id, r.name, err)
	}
	return nil
}
