// Package advise implements "accordion advise", which shows what past jobs would have gained from profiles. The command changes nothing.
// This package reads flags, accounting and journals; traces/advise, traces/advise/whatif and traces/advise/render compute the output.
package advise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/core"
	"accordion/oar/conf"
	"accordion/slurm/sacct"
	"accordion/traces/advise"
	"accordion/traces/advise/render"
	"accordion/traces/advise/whatif"
	"accordion/traces/files"
)

// Command returns "accordion advise".
func Command() *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "advise [flags] [JOB]",
		Short: "List past jobs that would have gained from a profile, and print the line to add",
		Long: `Read finished jobs, and the steps that they started with srun, from Slurm's accounting. List the jobs that would have released nodes
with an evolution profile. For each, print the line to add to its script, the node-hours saved, and how many of its later runs would
have been on time with that line. Nothing is changed.

It runs sacct, one day at a time with pauses, or reads a file with the output of

  ` + sacct.StepCommand + `

Runs of the same job have the same user, account, partition, requested number of nodes, and name (ignoring digits). The line is
computed from the first two thirds of the runs. Each step gets the most nodes seen in these runs. Its duration is long enough for
the share --quantile of these runs, plus a margin. A job gets no line if it runs too rarely, starts nothing with srun, or does not complete.

A workload log (--from LOG.swf) contains only sizes and times. Its advice is about jobs that ran on several sizes.

With --what-if all jobs are replayed without the lines under ` + whatif.Baseline + `, and with the lines under ` + whatif.Baseline + ` and under --policy. The jobs that
would become slower are listed first.

With --managed it reads the journal of the sidecar, and compares the declared durations of each line with the real ones.

OAR does not record what a job starts. With --oar, the advice is about jobs that ran on several sizes, as requests of a moldable job.

With JOB it explains that job in plain sentences, and shows where "accordion step" goes in its script.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return command.Usage(fmt.Errorf("advise: give one job, or none; there are %d arguments", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, strings.Join(args, "")) },
	}
	c.Flags().StringVar(&f.file, "from", "", "a file of Slurm's accounting, - for standard input, or a workload log, *.swf or *.swf.gz (default: run sacct)")
	c.Flags().BoolVar(&f.oar, "oar", false, "read OAR's database, named in $OARCONFFILE or "+conf.DefaultFile+", instead of sacct")
	c.Flags().BoolVar(&f.managed, "managed", false, "from the sidecar's journal, show how well jobs kept to their line, and print a better line")
	f.clusters = command.ClustersFlag(c)
	c.Flags().StringVar(&f.since, "since", "30d", "how far back to read sacct, OAR or the journal, such as 7d or 12h")
	c.Flags().StringVarP(&f.user, "user", "u", "", "only the jobs of this user")
	c.Flags().BoolVar(&f.json, "json", false, "write JSON")
	c.Flags().StringVarP(&f.html, "out", "o", "", "also write one HTML page, with the line and the runs of each job drawn over each other")
	command.Output(c, "out", command.AFile)
	command.OldFlag(c, "html", "out")
	c.Flags().StringVar(&f.shortest, "shortest", "", "shortest step of a profile, such as 30s (default: 60s, or 2% of the job if that is more)")
	c.Flags().Float64Var(&f.quantile, "quantile", 0.9, "make steps long enough for this share of the runs, above 0 and up to 1")
	c.Flags().Float64Var(&f.margin, "margin", 0.1, "share of its duration that is added to a step: 0.1 is a tenth")
	c.Flags().IntVar(&f.runs, "runs", 3, "a job with fewer runs gets no line")
	c.Flags().IntVar(&f.top, "top", 40, "how many lines of the table to show at most")
	f.whatIf.register(c)
	c.Flags().StringVar(&f.zone, "zone", "", "time zone of the times in a file, such as Europe/Paris (default: this machine's)")
	return c
}

type flags struct {
	file, since, user, html, shortest, zone string
	json, oar, managed                      bool
	clusters                                command.Clusters // the command reads the journals of these clusters
	quantile, margin                        float64
	runs, top                               int
	whatIf                                  whatIfFlags
}

// options returns the options for computing advice, from the flags.
func (f *flags) options() (advise.Options, error) {
	o := advise.Options{Quantile: f.quantile, Margin: f.margin, Runs: f.runs}
	switch {
	case !(f.quantile > 0 && f.quantile <= 1):
		return o, fmt.Errorf("--quantile %v is not above 0 and up to 1", f.quantile)
	case !(f.margin >= 0 && f.margin <= 10):
		return o, fmt.Errorf("--margin %v is not from 0 to 10", f.margin)
	case f.runs < 1:
		return o, fmt.Errorf("--runs %d is not above 0", f.runs)
	}
	if f.top < 1 {
		return o, fmt.Errorf("--top %d is not above 0", f.top)
	}
	if f.margin == 0 {
		o.Margin = -1
	}
	if f.shortest != "" {
		d, ok := command.Duration(f.shortest)
		if !ok || d == 0 {
			return o, fmt.Errorf("--shortest %s is no duration above 0: write %s", core.Shown(f.shortest), core.DurationForms)
		}
		o.Shortest = d
	}
	return o, nil
}

// run runs the command. job is "" for all jobs.
func (f *flags) run(cmd *cobra.Command, job string) error {
	o, err := f.options()
	if err != nil {
		return command.Usage(fmt.Errorf("advise: %w", err))
	}
	if job != "" && f.html != "" {
		return command.Usage(errors.New("advise: -o writes a page of all jobs; leave out the job"))
	}
	if err := f.whatIf.check(cmd, f.user, job); err != nil {
		return command.Usage(fmt.Errorf("advise: %w", err))
	}
	if f.oar && (f.file != "" || job != "") {
		return command.Usage(errors.New("advise: --oar reads all jobs of OAR's database; leave out --from and the job"))
	}
	if f.managed {
		if f.whatIf.on || f.oar || f.file != "" || f.html != "" || job != "" {
			return command.Usage(errors.New("advise: --managed reads the sidecar's journal: leave out --from, --oar, -o, --what-if and the job"))
		}
		return f.reviewManaged(cmd, o)
	}
	source, err := f.source()
	if err != nil {
		return command.Usage(fmt.Errorf("advise: %w", err))
	}
	saveMemory()
	read, err := source(cmd, f, job)
	if err != nil {
		return err
	}
	f.caution(cmd, read)
	o.Period = read.Until - read.From
	if job != "" {
		return f.explain(cmd.OutOrStdout(), job, read.Runs, o)
	}
	report := advise.Make(read.Runs, o)
	if read.Source == render.OAR {
		report.ForOAR()
	}
	var study *whatif.Study
	if f.whatIf.on {
		study, err = f.whatIf.study(cmd, read, &report, o, f.html != "")
		if stopped := (*whatif.InterruptedError)(nil); errors.As(err, &stopped) {
			return f.interrupted(cmd.OutOrStdout(), &report, read, stopped)
		}
		if err != nil {
			return err
		}
	}
	if f.html != "" {
		page := render.NewPage(&report, &read.Input, o, f.readFrom(), f.user, study)
		if err := files.Save(files.File{Path: f.html, Write: page.Write}); err != nil {
			return err
		}
	}
	if f.json {
		return render.JSON(cmd.OutOrStdout(), &report, &read.Input, study)
	}
	if study != nil {
		fmt.Fprintln(cmd.OutOrStdout(), render.WhatIfText(study))
	}
	text := render.Text(&report, &read.Input, f.top)
	if f.html != "" {
		text += "The page is in " + f.html + ".\n"
	}
	_, err = io.WriteString(cmd.OutOrStdout(), text)
	return err
}

// readFrom returns the name of the source of the runs, for the HTML page.
func (f *flags) readFrom() string {
	switch {
	case f.file != "":
		return f.file
	case f.oar:
		return "OAR's database, which knows nothing of what a job starts"
	}
	return "sacct"
}

// explain writes the resources that the job held and used, and the advice for the job and for its group.
func (f *flags) explain(out io.Writer, job string, runs []advise.Run, o advise.Options) error {
	r := advise.Latest(runs, job)
	if r == nil {
		return unknownJob(job, sacct.LeftUnread{})
	}
	if f.json {
		return render.ExplainJSON(out, r, o)
	}
	_, err := io.WriteString(out, render.Explain(runs, r, o))
	return err
}

// interrupted writes the partial result of an interrupted what-if: the advice, and the number of finished replays. It
// writes no JSON and no page, because both would be incomplete.
func (f *flags) interrupted(out io.Writer, report *advise.Report, read *readRuns, stopped *whatif.InterruptedError) error {
	text := render.Text(report, &read.Input, f.top)
	if f.json {
		out, text = io.Discard, ""
	}
	page := ""
	if f.html != "" {
		page = "; " + f.html + " was not written"
	}
	return command.Stop(out, text, "%v%s", stopped, page)
}

// caution writes to standard error what is missing in the input.
func (f *flags) caution(cmd *cobra.Command, read *readRuns) {
	say := func(format string, values ...any) {
		fmt.Fprintf(cmd.ErrOrStderr(), "accordion: "+format+"\n", values...)
	}
	for _, text := range read.LeftOutText {
		say("left out: %s", text)
	}
	command.Warn(cmd, read.Warnings)
	if read.LeftOut.Cut {
		say("warning: the accounting ends within a line; what it was about is left out")
	}
	for _, g := range read.Gaps {
		say("warning: %v", g)
	}
	if me := whoami(); read.bySacct && f.user == "" && me != "root" && len(read.Runs) > 0 && advise.OnlyUser(read.Runs) == me {
		say("sacct shows jobs of %s only: it may be told to show others' to administrators alone", me)
	}
}

// whoami returns the name of the user who runs this command, or "" if it is unknown.
func whoami() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// interrupted shortens the error of a context that was canceled.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("advise: interrupted")
	}
	return err
}
