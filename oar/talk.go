package oar

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/oar/observe"
	"accordion/oar/server"
)

// This file reaches a job on its first node: as OAR's account by the command that OAR uses itself (OPENSSH_CMD), and from there
// as the job's user by oardodo, as OAR does.

// scriptHost is the node on which a running job's script runs.
func scriptHost(r *observe.Job) (string, error) {
	if r.State != adapter.Running || len(r.Holds) == 0 {
		return "", fmt.Errorf("it is %s: %w", r.OARState, adapter.ErrGone)
	}
	return r.Holds[0], nil
}

// steps is how a script asks for its next step, or says in a comment that another file of it does.
var steps = regexp.MustCompile(`accordion\s+step`)

// readScript prints the beginnings of the files that a command names, as its user sees them: a megabyte of all, whatever he names.
const readScript = server.AsUser + `cd / && exec oardodo sh -c 'cd "$1" && set -f && for f in $2; do [ -f "$f" ] && head -c 100000 -- "$f"; done | head -c 1000000' sh "$1" "$2"`

// Speaks looks whether the job's command, or a file that it names, mentions `accordion step`.
func (s *System) Speaks(ctx context.Context, job adapter.Key) (bool, error) {
	r, err := s.read.Job(ctx, s.db.Sql, job)
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

func (s *System) words(ctx context.Context, r *observe.Job) (words, error) {
	var w words
	query := fmt.Sprintf("SELECT COALESCE(command, ''), launching_directory, COALESCE(stderr_file, '') FROM jobs WHERE job_id = %d", r.ID)
	err := s.db.Sql.QueryRowContext(ctx, query).Scan(&w.command, &w.directory, &w.errors)
	w.errors = strings.ReplaceAll(w.errors, "%jobid%", strconv.FormatInt(int64(r.ID), 10))
	return w, err
}

// Signal has OAR send a signal to the job's command (oardel -s), which gets it with all that it has started: "B:URG" and "URG" are
// the same.
func (s *System) Signal(ctx context.Context, job adapter.Key, signal string) error {
	r, err := s.read.Job(ctx, s.db.Sql, job)
	if err == nil {
		_, err = scriptHost(r)
	}
	if err != nil {
		return fmt.Errorf("signalling job %d: %w", job.ID, err)
	}
	name := strings.TrimPrefix(signal, "B:")
	out, err := server.Program(ctx, s.oardel(), "-s", name, strconv.FormatInt(int64(job.ID), 10)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("signalling job %d: oardel -s %s: %w: %s", job.ID, name, err, strings.Join(strings.Fields(string(out)), " "))
	}
	return nil
}

func (s *System) oardel() string { return s.program("oardel") }

// program returns the path of one of OAR's client programs.
func (s *System) program(name string) string {
	if s.bin == "" {
		return name
	}
	return filepath.Join(s.bin, name)
}

// appendLine adds its input to a file of the user's, which he names from his directory.
const appendLine = server.AsUser + `cd / && exec oardodo sh -c 'cd "$1" && cat >>"$2"' sh "$1" "$2"`

// Tell writes a line for its user into a running job's standard error, as he himself.
func (s *System) Tell(ctx context.Context, job adapter.Key, text string) error {
	r, err := s.read.Job(ctx, s.db.Sql, job)
	if err == nil {
		err = s.say(ctx, r, "accordion: "+text)
	}
	if err != nil {
		return fmt.Errorf("telling job %d: %w", job.ID, err)
	}
	return nil
}

func (s *System) say(ctx context.Context, r *observe.Job, text string) error {
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
