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
	"accordion/traces/advise/render"
	"accordion/traces/swf"
)

// readRuns is what a source returns.
type readRuns struct {
	render.Input
	bySacct bool     // the runs come from a call of sacct, not from a file
	log     *swf.Log // the runs come from this workload log; nil if they come from accounting
}

// source reads runs. If job is not "", only that job and the jobs of its user are needed.
type source func(cmd *cobra.Command, f *flags, job string) (*readRuns, error)

// sacctTimeout is how long sacct may run for one day. A slow database of a large site takes minutes.
const sacctTimeout = 5 * time.Minute

// source returns the source that the flags choose.
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
		return func(cmd *cobra.Command, f *flags, _ string) (*readRuns, error) { return fromFile(cmd, f, zone) }, nil
	}
	since, err := f.span()
	if err != nil {
		return nil, err
	}
	if f.oar {
		return func(cmd *cobra.Command, f *flags, _ string) (*readRuns, error) { return fromOAR(cmd, f, since) }, nil
	}
	return func(cmd *cobra.Command, f *flags, job string) (*readRuns, error) {
		return fromSlurm(cmd, f, job, since)
	}, nil
}

// span parses --since.
func (f *flags) span() (core.Time, error) {
	since, ok := command.Duration(f.since)
	if !ok || since == 0 {
		return 0, fmt.Errorf("--since %s is no duration above 0: write %s", core.Shown(f.since), core.DurationForms)
	}
	return since, nil
}

// saveMemory lets a garbage collection start when the heap has grown by 60 %, unless GOGC is set. A month of 300,000 jobs must fit into 500
// MiB.
func saveMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(60)
	}
}

// fromFile reads a file with the output of sacct, or standard input.
func fromFile(cmd *cobra.Command, f *flags, zone *time.Location) (*readRuns, error) {
	runs := sacct.NewRuns()
	in, name := cmd.InOrStdin(), "standard input"
	if f.file != "-" {
		file, err := os.Open(f.file)
		if err != nil {
			return nil, command.Usage(fmt.Errorf("read Slurm's accounting: %w", err))
		}
		defer file.Close()
		var over func()
		in, over = command.ProgressOfReading(file)
		defer over()
		name = f.file
	}
	if err := runs.Read(in, name, zone, 0, 0); err != nil {
		return nil, command.Usage(err)
	}
	if f.user != "" {
		runs.All = slices.DeleteFunc(runs.All, func(r advise.Run) bool { return r.User != f.user })
	}
	r := &readRuns{}
	r.take(runs, nil)
	return r, nil
}

// fromSlurm runs sacct. If a job is given, it first finds the job's user, and then reads all jobs of that user.
func fromSlurm(cmd *cobra.Command, f *flags, job string, since core.Time) (*readRuns, error) {
	run := client.New(client.Config{Timeout: sacctTimeout, AtOnce: 1})
	defer run.Close()
	ask := func(ctx context.Context, arguments []string) (string, error) {
		out, err := run.Run(ctx, client.Call{Program: "sacct", Args: arguments})
		return out.Stdout, err
	}
	until := time.Now().Unix() + 1
	r := &readRuns{Input: render.Input{From: until - since, Until: until}, bySacct: true}
	whose := f.user
	runs := sacct.NewRuns()
	if job != "" {
		if err := one(cmd.Context(), ask, job, runs); err != nil {
			return nil, interrupted(err)
		}
		whose = runs.All[0].User
	}
	progress, over := command.Progress("days of sacct", progressbar.OptionShowCount())
	defer over()
	all := sacct.NewRuns()
	gaps, err := (&sacct.Query{Sacct: ask, Progress: progress, User: whose, From: r.From, Until: until}).ReadInto(cmd.Context(), all)
	if err != nil {
		return nil, interrupted(fmt.Errorf("read Slurm's accounting: %w; to read a file with sacct's output, use --from", err))
	}
	if job != "" && !slices.ContainsFunc(all.All, func(r advise.Run) bool { return r.ID == runs.All[0].ID && r.Start == runs.All[0].Start }) {
		all.All = append(all.All, runs.All[0]) // the job ended before the period
	}
	r.take(all, gaps)
	return r, nil
}

// take copies what was read from the accounting.
func (r *readRuns) take(runs *sacct.Runs, gaps []sacct.Gap) {
	left := &runs.Left
	r.Runs, r.Warnings = runs.All, left.Warnings()
	if text := left.String(); text != "" {
		r.LeftOutText = append(r.LeftOutText, text)
	}
	r.LeftOut = render.LeftOut{Unfinished: left.Unfinished, NeverBegan: left.NeverBegan, Resized: left.Resized, Companions: left.Companions, Hetero: left.Hetero, Broken: left.Broken,
		Lines: left.Lines.Count, Cut: left.Cut, Values: left.Values.Count, Doubled: left.Doubled.Count}
	for _, g := range gaps {
		r.Gaps = append(r.Gaps, render.Gap(g))
	}
}

// fromLog reads a workload log: sizes and times of jobs.
func fromLog(cmd *cobra.Command, f *flags, job string) (*readRuns, error) {
	switch {
	case job != "":
		return nil, command.Usage(fmt.Errorf("advise: %s is a workload log, which has no job steps; leave out the job", f.file))
	case f.user != "":
		return nil, command.Usage(fmt.Errorf("advise: %s is a workload log, in which users are only numbers; leave out --user", f.file))
	}
	log, err := swf.ReadFile(f.file, swf.Options{})
	if err != nil {
		return nil, command.Usage(err)
	}
	for _, line := range log.Warnings.Lines() {
		fmt.Fprintln(cmd.ErrOrStderr(), "accordion: warning:", line)
	}
	log.Records = swf.Summaries(log.Records)
	r := &readRuns{log: log}
	runs, unnamed := advise.FromLog(log)
	r.Runs, r.Source = runs, render.Log
	if unnamed {
		r.Source = render.UnnamedLog
	}
	return r, nil
}

// jobForm matches a job number: 123, or 123_4 for a task of an array.
var jobForm = regexp.MustCompile(`^[0-9]{1,10}(_[0-9]{1,10})?$`)

// one reads one job with sacct.
func one(ctx context.Context, ask func(context.Context, []string) (string, error), job string, into *sacct.Runs) error {
	if !jobForm.MatchString(job) {
		return command.Usage(fmt.Errorf("advise: %s is no job number; write 123, or 123_4", core.Shown(job)))
	}
	text, err := ask(ctx, []string{"--jobs=" + job, "--duplicates", "--parsable2", "--noconvert", "--format=" + sacct.StepColumns})
	if err != nil {
		return fmt.Errorf("read Slurm's accounting of job %s: %w", job, err)
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

// unknownJob returns the error for a job of which accounting has no run.
func unknownJob(job string, left sacct.LeftUnread) error {
	if text := left.String(); text != "" {
		return fmt.Errorf("advise: job %s cannot be explained; the accounting has: %s", job, text)
	}
	return fmt.Errorf("advise: the accounting has no finished job %s that you may see", job)
}
