// Package advise is "accordion advise": what a site's own jobs would have gained by profiles. It only reads.
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
)

// Command is "accordion advise".
func Command() *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "advise [flags] [JOB]",
		Short: "Say which jobs of the past would have gained by a profile, and write its line",
		Long: `Read what Slurm's accounting knows of jobs that are over and of the steps that they started with srun, and say for which of them
an evolution profile would have given nodes back: the line to write, how many of the runs that were kept for a test would have been on time with
it, and the node-hours saved. Nothing is changed, no job is touched.

It asks sacct, a day at a time with pauses between, or reads a file of what this prints:

  ` + sacct.StepCommand + `

Runs of one job are those of the same user, account, partition, name (without its numbers) and number of nodes asked for. A line is made of the first
two thirds of them: of each step the most nodes seen, and the duration that --quantile of them kept to, and a margin. Jobs that are run
too seldom, start nothing with srun, or do not complete, get none.

Of a workload log, --from LOG.swf, there is advice on jobs that were run on several sizes: it knows sizes and times only.

With --what-if all jobs are replayed as they were under ` + asItWas + `, and with the lines, there and under --policy. Who would lose is told first.

With --managed it reads the journal of the sidecar, and says of each line that jobs have carried how long its steps were told and how long they took.

OAR knows nothing of what a job starts: with --oar there is advice for jobs that were run on several sizes, as the requests of a moldable job.

With JOB it explains that one in sentences, and where "accordion step" goes in its script.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return command.Usage(fmt.Errorf("advise: give one job, or none; there are %d arguments", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, strings.Join(args, "")) },
	}
	c.Flags().StringVar(&f.file, "from", "", "a file of Slurm's accounting, or - for standard input, or a workload log, *.swf or *.swf.gz (default: sacct is asked)")
	c.Flags().BoolVar(&f.oar, "oar", false, "ask OAR's database, as $OARCONFFILE or "+conf.DefaultFile+" says, in place of sacct")
	c.Flags().BoolVar(&f.managed, "managed", false, "say how jobs that carry a line kept to it, by the sidecar's journal, and write a better line")
	f.clusters = command.ClustersFlag(c)
	c.Flags().StringVar(&f.since, "since", "30d", "how far back sacct, OAR or the journal is asked, such as 7d or 12h")
	c.Flags().StringVarP(&f.user, "user", "u", "", "only the jobs of this user")
	c.Flags().BoolVar(&f.json, "json", false, "write JSON")
	c.Flags().StringVarP(&f.html, "out", "o", "", "write the advice as one HTML page, too: the runs of each job drawn over each other, and its line")
	command.Output(c, "out", command.AFile)
	command.OldFlag(c, "html", "out")
	c.Flags().StringVar(&f.shortest, "shortest", "", "no step of a profile is shorter, such as 30s (default: 60s, or 2% of the job where that is more)")
	c.Flags().Float64Var(&f.quantile, "quantile", 0.9, "a step lasts as long as this share of the runs kept to, above 0 and up to 1")
	c.Flags().Float64Var(&f.margin, "margin", 0.1, "and by this much longer: 0.1 is a tenth")
	c.Flags().IntVar(&f.runs, "runs", 3, "a job that was run less often gets no line")
	c.Flags().IntVar(&f.top, "top", 40, "show so many lines of the table at most")
	f.whatIf.register(c)
	c.Flags().StringVar(&f.zone, "zone", "", "time zone of times such as 2026-01-31T12:00:00 in a file, such as Europe/Paris (default: this machine's)")
	return c
}

type flags struct {
	file, since, user, html, shortest, zone string
	json, oar, managed                      bool
	clusters                                command.Clusters // whose journals
	quantile, margin                        float64
	runs, top                               int
	whatIf                                  whatIfFlags
}

// options checks what the command line says of how advice is made.
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

func (f *flags) run(cmd *cobra.Command, job string) error {
	o, err := f.options()
	if err != nil {
		return command.Usage(fmt.Errorf("advise: %w", err))
	}
	if job != "" && f.html != "" {
		return command.Usage(errors.New("advise: -o writes a page of all jobs: leave the job away"))
	}
	if err := f.whatIf.check(cmd, f.user, job); err != nil {
		return command.Usage(fmt.Errorf("advise: %w", err))
	}
	if f.oar && (f.file != "" || job != "") {
		return command.Usage(errors.New("advise: --oar asks OAR's database of all jobs: leave --from and the job away"))
	}
	if f.managed {
		if f.whatIf.on || f.oar || f.file != "" || f.html != "" || job != "" {
			return command.Usage(errors.New("advise: --managed reads the sidecar's journal: leave --from, --oar, -o, --what-if and the job away"))
		}
		return f.reviewManaged(cmd, o)
	}
	source, err := f.source()
	if err != nil {
		return command.Usage(fmt.Errorf("advise: %w", err))
	}
	thrift()
	heard, err := source(cmd, f, job)
	if err != nil {
		return err
	}
	f.caution(cmd, heard)
	o.Period = heard.until - heard.from
	if job != "" {
		return explain(cmd.OutOrStdout(), job, heard.runs, o, f.json)
	}
	report := advise.Make(heard.runs, o)
	if heard.oar {
		inOAR(&report)
	}
	var s *supposed
	if f.whatIf.on {
		s, err = f.whatIf.suppose(cmd.Context(), heard, &report, o, f.html != "")
		if stop := (*stopped)(nil); errors.As(err, &stop) {
			return f.interrupted(cmd.OutOrStdout(), &report, heard, stop)
		}
		if err != nil {
			return err
		}
	}
	if f.html != "" {
		if err := f.savePage(cmd, &report, heard, o, s); err != nil {
			return err
		}
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), &report, heard, s)
	}
	if s != nil {
		fmt.Fprintln(cmd.OutOrStdout(), onTerminal(s.words()))
	}
	text := table(&report, heard, f.top)
	if f.html != "" {
		text += "The page is in " + f.html + ".\n"
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), text)
	return err
}

// interrupted writes the advice, which was made before the what-if was interrupted, and how much of that was done. JSON and pages are whole
// or not there.
func (f *flags) interrupted(out io.Writer, report *advise.Report, h *heard, stop *stopped) error {
	text := table(report, h, f.top)
	if f.json {
		out, text = io.Discard, ""
	}
	page := ""
	if f.html != "" {
		page = "; " + f.html + " was not written"
	}
	return command.Stop(out, text, "%v%s", stop, page)
}

// caution tells on standard error what is missing in what was read.
func (f *flags) caution(cmd *cobra.Command, h *heard) {
	say := func(format string, values ...any) {
		fmt.Fprintf(cmd.ErrOrStderr(), "accordion: "+format+"\n", values...)
	}
	if text := h.left.String(); text != "" {
		say("left out: %s", text)
	}
	if h.also != "" {
		say("left out: %s", h.also)
	}
	command.Warn(cmd, h.left.Warnings())
	if h.left.Cut {
		say("warning: the accounting ends within a line; what it was about is left out")
	}
	for _, g := range h.gaps {
		say("warning: nothing is known from %s to %s: %v", date(g.From), date(g.Until), g.Why)
	}
	if me := whoami(); h.asked && f.user == "" && me != "root" && len(h.runs) > 0 && onlyOf(me, h.runs) {
		say("sacct shows jobs of %s only: it may be told to show others' to administrators alone", me)
	}
}

func whoami() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

func onlyOf(name string, runs []advise.Run) bool {
	for i := range runs {
		if runs[i].User != name {
			return false
		}
	}
	return true
}

// interrupted makes of the context's end a short word.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("advise: interrupted")
	}
	return err
}
