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

// This file contains the scripts that run on a job's first node. OAR's account connects to the node by the command that OAR itself uses
// (OPENSSH_CMD). On the node it becomes the job's user by oardodo, as OAR does.

// scriptHost returns the node on which a running job's script runs.
func scriptHost(r *observe.Job) (string, error) {
	if r.State != adapter.Running || len(r.Holds) == 0 {
		return "", fmt.Errorf("it is %s: %w", r.OARState, adapter.ErrGone)
	}
	return r.Holds[0], nil
}

// steps matches the command `accordion step` in a script. If another file of the job calls the command, the user can mention it in a
// comment of the script.
var steps = regexp.MustCompile(`accordion\s+step`)

// readScript is a script that prints the beginnings of the files that a command names, read as the job's user. It prints at most a megabyte
// in total, whatever files the command names.
const readScript = server.AsUser + `cd / && exec oardodo sh -c 'cd "$1" && set -f && for f in $2; do [ -f "$f" ] && head -c 100000 -- "$f"; done | head -c 1000000' sh "$1" "$2"`

// Speaks reports whether the job's command, or a file that it names, mentions `accordion step`.
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

// words are the command, the directory and the file for standard error of a job, as the user wrote them.
type words struct{ command, directory, errors string }

func (s *System) words(ctx context.Context, r *observe.Job) (words, error) {
	var w words
	query := fmt.Sprintf("SELECT COALESCE(command, ''), launching_directory, COALESCE(stderr_file, '') FROM jobs WHERE job_id = %d", r.ID)
	err := s.db.Sql.QueryRowContext(ctx, query).Scan(&w.command, &w.directory, &w.errors)
	w.errors = strings.ReplaceAll(w.errors, "%jobid%", strconv.FormatInt(int64(r.ID), 10))
	return w, err
}

// Signal asks OAR to send a signal to the job's command (oardel -s). All processes that the command has started get the signal too, so
// "B:URG" and "URG" do the same.
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

// appendLine is a script that appends its input to a file of the user. The file's path is relative to the job's directory.
const appendLine = server.AsUser + `cd / && exec oardodo sh -c 'cd "$1" && cat >>"$2"' sh "$1" "$2"`

// Tell writes a line into a running job's standard error, as the job's user.
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
