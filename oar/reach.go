package oar

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/oar/database"
	"accordion/oar/node"
)

// This file reaches a job on its first node: as OAR's account by the command that OAR uses itself (OPENSSH_CMD), and from there
// as the job's user by oardodo, as OAR does.

// scriptHost is the node on which a running job's script runs.
func scriptHost(r *record) (string, error) {
	if r.State != adapter.Running || len(r.holds) == 0 {
		return "", fmt.Errorf("it is %s: %w", r.state, adapter.ErrGone)
	}
	return r.holds[0], nil
}

// steps is how a script asks for its next step, or says in a comment that another file of it does.
var steps = regexp.MustCompile(`accordion\s+step`)

// readScript prints the beginnings of the files that a command names, as its user sees them: a megabyte of all, whatever he names.
const readScript = node.AsUser + `cd / && exec oardodo sh -c 'cd "$1" && set -f && for f in $2; do [ -f "$f" ] && head -c 100000 -- "$f"; done | head -c 1000000' sh "$1" "$2"`

// Speaks looks whether the job's command, or a file that it names, mentions `accordion step`.
func (s *System) Speaks(ctx context.Context, job adapter.Key) (bool, error) {
	r, err := s.lookup(ctx, s.db.Sql, job)
	if err != nil {
		return false, fmt.Errorf("reading the script: %w", err)
	}
	words, err := s.words(ctx, r)
	if err != nil {
		return false, fmt.Errorf("job %d: reading its command: %w", job.ID, err)
	}
	if steps.MatchString(words.command) {
		return true, nil
	}
	host, err := scriptHost(r)
	if err != nil {
		return false, fmt.Errorf("job %d: reading its script: %w", job.ID, err)
	}
	text, err := s.reach.Script(ctx, host, readScript, "", r.User, words.directory, words.command)
	if err != nil {
		return false, fmt.Errorf("job %d: reading its script: %w", job.ID, err)
	}
	return steps.MatchString(text), nil
}

// words are what a user wrote about where and how his job runs.
type words struct{ command, directory, errors string }

func (s *System) words(ctx context.Context, r *record) (words, error) {
	var w words
	query := fmt.Sprintf("SELECT COALESCE(command, ''), launching_directory, COALESCE(stderr_file, '') FROM jobs WHERE job_id = %d", r.ID)
	err := s.db.Sql.QueryRowContext(ctx, query).Scan(&w.command, &w.directory, &w.errors)
	w.errors = strings.ReplaceAll(w.errors, "%jobid%", strconv.FormatInt(int64(r.ID), 10))
	return w, err
}

// Signal has OAR send a signal to the job's command (oardel -s), which gets it with all that it has started: "B:URG" and "URG" are
// the same.
func (s *System) Signal(ctx context.Context, job adapter.Key, signal string) error {
	r, err := s.lookup(ctx, s.db.Sql, job)
	if err == nil {
		_, err = scriptHost(r)
	}
	if err != nil {
		return fmt.Errorf("signalling job %d: %w", job.ID, err)
	}
	name := strings.TrimPrefix(signal, "B:")
	out, err := node.Program(ctx, s.oardel(), "-s", name, strconv.FormatInt(int64(job.ID), 10)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("signalling job %d: oardel -s %s: %w: %s", job.ID, name, err, strings.Join(strings.Fields(string(out)), " "))
	}
	return nil
}

func (s *System) oardel() string {
	if s.bin == "" {
		return "oardel"
	}
	return filepath.Join(s.bin, "oardel")
}

// appendLine adds its input to a file of the user's, which he names from his directory.
const appendLine = node.AsUser + `cd / && exec oardodo sh -c 'cd "$1" && cat >>"$2"' sh "$1" "$2"`

// Tell writes a line for its user into a running job's standard error, as he himself.
func (s *System) Tell(ctx context.Context, job adapter.Key, text string) error {
	r, err := s.lookup(ctx, s.db.Sql, job)
	if err == nil {
		err = s.say(ctx, r, "accordion: "+text)
	}
	if err != nil {
		return fmt.Errorf("telling job %d: %w", job.ID, err)
	}
	return nil
}

func (s *System) say(ctx context.Context, r *record, text string) error {
	host, err := scriptHost(r)
	if err != nil {
		return err
	}
	w, err := s.words(ctx, r)
	if err != nil || w.errors == "" {
		return err
	}
	_, err = s.reach.Script(ctx, host, appendLine, strings.Join(strings.Fields(text), " ")+"\n", r.User, w.directory, w.errors)
	return err
}

// writeNodes replaces OAR's file of the job's nodes ($OAR_NODEFILE) in one piece.
const writeNodes = `f=$2/$1; [ -e "$f" ] || exit 0; cat >"$f.accordion-next" && chmod 644 "$f.accordion-next" && mv -f "$f.accordion-next" "$f" && rm -f "$f.accordion"`

// writeHosts runs as the user. The folder must be his own: /tmp is everybody's, and a folder or link that a stranger put
// there could lead the write elsewhere.
const writeHosts = node.AsUser + `cd / && exec oardodo sh -c 'umask 077; d=/tmp/accordion-$(id -u); mkdir -p "$d" 2>/dev/null; ` +
	`if [ -L "$d" ] || [ ! -d "$d" ] || [ ! -O "$d" ]; then echo "$d belongs to another user or is a link: remove it" >&2; exit 77; fi; ` +
	`cat >"$d/.$1.$$" && mv -f "$d/.$1.$$" "$d/$1.hosts"' sh "$1"`

// Publish writes /tmp/accordion-UID/SERVER-JOBID.hosts on the job's first node, as its user, and the node file that OAR
// made for it there ($OAR_NODEFILE): a line for each resource, host by host.
func (s *System) Publish(ctx context.Context, job *adapter.Job, text string) error {
	r, err := s.lookup(ctx, s.db.Sql, job.Key)
	var host string
	if err == nil {
		host, err = scriptHost(r)
	}
	if err != nil {
		return fmt.Errorf("publishing the hosts of job %d: %w", job.ID, err)
	}
	if err := s.publishNodes(ctx, host, job); err != nil {
		return fmt.Errorf("publishing the hosts of job %d: %w", job.ID, err)
	}
	if _, err := s.reach.Script(ctx, host, writeHosts, text, r.User, fmt.Sprintf("%s-%d", s.db.Conf.Server, job.ID)); err != nil {
		return fmt.Errorf("publishing the hosts of job %d: %w", job.ID, err)
	}
	return nil
}

func (s *System) publishNodes(ctx context.Context, host string, job *adapter.Job) error {
	text, err := s.nodefile(ctx, job.Nodes)
	if err == nil {
		_, err = s.reach.Script(ctx, host, writeNodes, text, strconv.FormatInt(int64(job.ID), 10), s.db.Conf.Manager.Runtime)
	}
	return err
}

// nodefile is the text of a job's node file as OAR writes it: a line for each resource, host by host.
func (s *System) nodefile(ctx context.Context, nodes []string) (string, error) {
	nodes = slices.Clone(nodes)
	slices.Sort(nodes)
	var lines strings.Builder
	for _, node := range nodes {
		resources, err := s.db.Resources(ctx, s.db.Sql, []string{node})
		if err != nil {
			return "", err
		}
		for range resources {
			lines.WriteString(node + "\n")
		}
	}
	return lines.String(), nil
}

// leaveNodes leaves the text of a job's node file where Prologue finds it. One that is there since long is of a job that never began while
// there was no sidecar to take it away.
const leaveNodes = `f=$2/$1.accordion; cat >"$f-next" && chmod 644 "$f-next" && mv -f "$f-next" "$f" || exit
find "$2" -maxdepth 1 -name '*.accordion*' -mmin +60 -delete 2>/dev/null || :`

// dropNodes takes it away.
const dropNodes = `rm -f "$2/$1.accordion"`

// foretellWithin bounds what is done on a node before a job begins or after it was taken back: the job need not wait for it.
const foretellWithin = 5 * time.Second

// firstOf is the one of some hosts on which OAR would run a job's script, the first in the database's order, which need not be that of
// the bytes: where it follows a language, node-10.site comes before node-1.site.
func (s *System) firstOf(ctx context.Context, hosts []string) (first string, err error) {
	resources, err := s.db.Resources(ctx, s.db.Sql, hosts)
	if err == nil {
		query := "SELECT MIN(r.network_address) FROM resources r WHERE r.resource_id IN (" + database.List(resources) + ")"
		err = s.db.Sql.QueryRowContext(ctx, query).Scan(&first)
	}
	return first, err
}

// retract takes back what foretell has left for a job that does not begin: it may begin elsewhere, or in another size.
func (s *System) retract(ctx context.Context, job adapter.Key, base []string) {
	ctx, cancel := context.WithTimeout(ctx, foretellWithin)
	defer cancel()
	first, err := s.firstOf(ctx, base)
	if err == nil {
		_, err = s.reach.Script(ctx, first, dropNodes, "", strconv.FormatInt(int64(job.ID), 10), s.db.Conf.Manager.Runtime)
	}
	if err != nil {
		s.log.Warn("the nodes that were left for a job's prologue cannot be taken away", "job", job.ID, "error", err)
	}
}

// foretell leaves the nodes of a job's first step on the node where it begins, where they are more than its base: OAR knows of
// the base only. A job whose node cannot be reached begins without: Detach makes it good.
func (s *System) foretell(ctx context.Context, job adapter.Key) {
	ctx, cancel := context.WithTimeout(ctx, foretellWithin)
	defer cancel()
	err := func() error {
		r, err := s.lookup(ctx, s.db.Sql, job)
		if err != nil || pending(r) != nil || r.Reservation == "" {
			return nil // Release says it
		}
		all, err := s.reservations(ctx, s.db.Sql, r.Reservation)
		if err != nil || len(all) == 0 {
			return nil
		}
		hosts := all[0].Nodes
		base, err := baseOf(r, len(hosts))
		if err != nil || base == len(hosts) {
			return nil
		}
		text, err := s.nodefile(ctx, hosts)
		if err != nil {
			return err
		}
		first, err := s.firstOf(ctx, hosts[:base])
		if err == nil {
			_, err = s.reach.Script(ctx, first, leaveNodes, text, strconv.FormatInt(int64(job.ID), 10), s.db.Conf.Manager.Runtime)
		}
		return err
	}()
	if err != nil {
		s.log.Warn("the nodes of a job's first step cannot be left for its prologue", "job", job.ID, "error", err)
	}
}
