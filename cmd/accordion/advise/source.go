package advise

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/sacct"
	"accordion/traces/advise"
	"accordion/traces/swf"
)

// heard is what a source told.
type heard struct {
	runs        []advise.Run
	left        sacct.LeftUnread
	gaps        []sacct.Gap
	from, until core.Time // what was asked for; 0: whatever the file has
	asked       bool      // of sacct, not read from a file
	log         *archived // the runs are of a workload log; nil: they are of an accounting
	oar         bool      // it is of OAR, which knows nothing of steps
	also        string    // what else is left out
}

// source reads the accounting, as the flags say. A job is the only one of interest, and its like.
type source func(cmd *cobra.Command, f *flags, job string) (*heard, error)

// patience is how long sacct may take for one day. A month of a large site in a slow database takes minutes.
const patience = 5 * time.Minute

func (f *flags) source() (source, error) {
	zone := time.Local
	if f.zone != "" {
		var err error
		if zone, err = time.LoadLocation(f.zone); err != nil {
			return nil, fmt.Errorf("--zone: %w; write it as in Europe/Paris", err)
		}
	}
	if swf.IsName(f.file) {
		return fromLog, nil
	}
	if f.file != "" {
		return func(cmd *cobra.Command, f *flags, _ string) (*heard, error) { return fromFile(cmd, f, zone) }, nil
	}
	since, err := f.span()
	if err != nil {
		return nil, err
	}
	if f.oar {
		return func(cmd *cobra.Command, f *flags, _ string) (*heard, error) { return fromOAR(cmd, f, since) }, nil
	}
	return func(cmd *cobra.Command, f *flags, job string) (*heard, error) { return fromSlurm(cmd, f, job, since) }, nil
}

// span is how far back is asked.
func (f *flags) span() (core.Time, error) {
	since, ok := command.Duration(f.since)
	if !ok || since == 0 {
		return 0, fmt.Errorf("--since %s is no duration above 0: write %s", core.Shown(f.since), core.DurationForms)
	}
	return since, nil
}

// thrift collects garbage when the heap has grown by three fifths: a month of 300,000 jobs is to be read within 500 MiB. GOGC, where it is set, holds.
func thrift() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(60)
	}
}

func fromFile(cmd *cobra.Command, f *flags, zone *time.Location) (*heard, error) {
	runs := sacct.NewRuns()
	in, name := cmd.InOrStdin(), "standard input"
	if f.file != "-" {
		file, err := os.Open(f.file)
		if err != nil {
			return nil, command.Usage(fmt.Errorf("reading Slurm's accounting: %w", err))
		}
		defer file.Close()
		var over func()
		in, over = watched(file)
		defer over()
		name = f.file
	}
	if err := runs.Read(in, name, zone, 0, 0); err != nil {
		return nil, command.Usage(err)
	}
	if f.user != "" {
		runs.All = slices.DeleteFunc(runs.All, func(r advise.Run) bool { return r.User != f.user })
	}
	return &heard{runs: runs.All, left: runs.Left}, nil
}

// fromSlurm asks sacct; for one job first whose it is, and then for that user's.
func fromSlurm(cmd *cobra.Command, f *flags, job string, since core.Time) (*heard, error) {
	run := client.New(client.Config{Timeout: patience, AtOnce: 1})
	defer run.Close()
	ask := func(ctx context.Context, arguments []string) (string, error) {
		out, err := run.Run(ctx, client.Call{Program: "sacct", Args: arguments})
		return out.Stdout, err
	}
	until := time.Now().Unix() + 1
	h := &heard{from: until - since, until: until, asked: true}
	whose := f.user
	runs := sacct.NewRuns()
	if job != "" {
		if err := one(cmd.Context(), ask, job, runs); err != nil {
			return nil, interrupted(err)
		}
		whose = runs.All[0].User
	}
	told, over := progress("days of sacct", progressbar.OptionShowCount())
	defer over()
	all := sacct.NewRuns()
	gaps, err := (&sacct.Ask{Sacct: ask, Told: told, User: whose, From: h.from, Until: until}).Into(cmd.Context(), all)
	if err != nil {
		return nil, interrupted(fmt.Errorf("asking Slurm's accounting: %w (a file of what sacct prints is read with --from)", err))
	}
	if job != "" && !slices.ContainsFunc(all.All, func(r advise.Run) bool { return r.ID == runs.All[0].ID && r.Start == runs.All[0].Start }) {
		all.All = append(all.All, runs.All[0]) // it is older
	}
	h.runs, h.left, h.gaps = all.All, all.Left, gaps
	return h, nil
}

// jobForm is how a job is written: 123, or 123_4 for a task of an array.
var jobForm = regexp.MustCompile(`^[0-9]{1,10}(_[0-9]{1,10})?$`)

// one reads the one job.
func one(ctx context.Context, ask func(context.Context, []string) (string, error), job string, into *sacct.Runs) error {
	if !jobForm.MatchString(job) {
		return command.Usage(fmt.Errorf("advise: %s is no job: write its number, such as 123, or 123_4", core.Shown(job)))
	}
	text, err := ask(ctx, []string{"--jobs=" + job, "--duplicates", "--parsable2", "--noconvert", "--format=" + sacct.StepColumns})
	if err != nil {
		return fmt.Errorf("asking Slurm's accounting for job %s: %w", job, err)
	}
	if err := into.ReadText(text, "sacct --jobs="+job); err != nil {
		return err
	}
	into.All = slices.DeleteFunc(into.All, func(r advise.Run) bool { return r.ID != job })
	if len(into.All) == 0 {
		return unknownJob(job, into.Left)
	}
	return nil
}

func unknownJob(job string, left sacct.LeftUnread) error {
	if text := left.String(); text != "" {
		return fmt.Errorf("advise: job %s cannot be explained; the accounting has: %s", job, text)
	}
	return fmt.Errorf("advise: the accounting has no job %s that is over and that you may see", job)
}
