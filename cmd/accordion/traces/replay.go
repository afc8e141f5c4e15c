package traces

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"

	"accordion/core/policy"
	"accordion/traces/compare"
	"accordion/traces/files"
	"accordion/traces/replay"
)

// Topics returns the help pages on replays: accordion help policies, accordion help shapes.
func Topics() []*cobra.Command {
	return []*cobra.Command{
		command.Topic("policies", "The scheduling policies of replay, compare and advise", `Policies of "accordion replay", "accordion compare" and "accordion advise --what-if":

`+policy.Help()+`
ALG is an algorithm of "accordion schedule". These policies treat every job as rigid: `+strings.Join(policy.Rigid(), ", ")+`.
An evolving job holds its peak, and a moldable job has the size in the log.

If you give several policies, the first one is the reference. Today's schedulers are nearest to easy.`),
		command.Topic("shapes", "How evolving and moldable jobs are made from the jobs of a log", `"accordion replay" and "accordion compare" choose jobs of the log at random and make them evolving (--evolving) or moldable
(--moldable).

--shape: how the size of an evolving job changes. Steps are equally long, unless the table says otherwise:

  ramp-up        1/4, 2/4, 3/4 and all of the peak
  ramp-down      all of the peak, 3/4, 2/4, 1/4
  mountain       1/3, 2/3, all of the peak, 2/3, 1/3
  pre-main-post  1/4 for 15 % of the time, the peak for 70 %, 1/4 for 15 %
  random         2 to 6 steps of random lengths and heights, one of them the peak

--same: what an evolving job has in common with the log's job:

  peak           the log's size is its peak, so it needs less node-time than the log's job
  area           its node-time is the same, so its peak is larger than the log's size

--curve: how fast a moldable job is on other sizes: table1 (of RR-7389), piecewise (of SCOJO-P), downey (of Cirne and Berman).

--offer: which sizes a moldable job lists: all (at most 128), three (smallest, log's, largest), powers (of two).`),
	}
}

// Replay returns "accordion replay".
func Replay() *cobra.Command {
	var r replayFlags
	c := &cobra.Command{
		Use:   "replay [flags] TRACE|- …",
		Short: "Replay a workload log: when would each job have started?",
		Long: `Replay logs in the Standard Workload Format (gzipped or not; - is standard input) in virtual time, and print how long jobs
waited and how the machine was used. With --evolving or --moldable, and without --policy, it compares easy, easy-evolving and
patient. easy is today's scheduling, and ignores profiles.

"accordion help policies" describes the policies. "accordion help shapes" describes the jobs of --evolving and --moldable.

With -o DIR it writes jobs.csv (one row per job, in Batsim's columns, readable by evalys), steps.csv (one row per step of an evolving
job), metrics.json, replayed.swf and report.html. If you give several logs, each gets its own folder in DIR. With --csv FILE it writes
only jobs.csv; --csv - writes it to standard output, and nothing else.

A job is replayed if it has a submission time, a run time, processors and a requested time, and is not larger than the machine. The
other jobs are counted, with the reasons. A job runs at most for its requested time.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usage(errors.New("replay: name a workload log, or - for standard input"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args) },
	}
	r.register(c)
	c.Flags().StringVar(&r.policy, "policy", "easy", "scheduling policy: "+strings.Join(policy.Names(), ", "))
	c.Flags().StringVarP(&r.out, "out", "o", "", "folder for the results; it is made if it does not exist")
	command.Output(c, "out", command.AFolder)
	c.Flags().StringVar(&r.csv, "csv", "", "write jobs.csv to this file, or to standard output (-)")
	command.Output(c, "csv", command.AFile)
	command.OldFlag(c, "policies", "policy")
	command.Complete(c, "policy", policy.Words()...)
	return c
}

type replayFlags struct {
	workloadFlags
	policy, out, csv string
}

func (r *replayFlags) run(cmd *cobra.Command, paths []string) error {
	if !cmd.Flags().Changed("policy") && r.supposes(cmd) {
		if len(paths) == 1 && r.out == "" && r.csv == "" {
			c := compareFlags{workloadFlags: r.workloadFlags, names: r.usualPolicies(cmd), seeds: 1}
			return c.run(cmd, paths[0])
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "accordion: these are results under easy, which ignores profiles; a policy that uses them: --policy patient")
	}
	policies, err := r.policies(r.policy)
	if err != nil {
		return err
	}
	if r.figures && r.out == "" {
		return command.Usage(errFigures)
	}
	if r.csv != "" && len(paths) > 1 {
		return command.Usage(errors.New("--csv is for one log; with several take -o DIR"))
	}
	all := make([]*compare.Replayed, len(paths))
	folders := map[string]string{}
	for i, path := range paths {
		if all[i], err = r.load(cmd, path); err != nil {
			return err
		}
		if other, taken := folders[all[i].Name]; taken {
			return command.Usage(fmt.Errorf("%s and %s have one name, and their results one folder; replay them one by one", other, path))
		}
		folders[all[i].Name] = path
	}
	metrics := make([]replay.Metrics, len(all))
	for i, w := range all {
		known, err := r.knowing(policies, &w.Log.Header)
		if err != nil {
			return err
		}
		if r.csv == "-" && r.out == "" {
			return r.only(cmd, w, known[0])
		}
		if metrics[i], err = r.one(cmd, w, known, len(all) > 1); err != nil {
			return err
		}
	}
	if r.csv == "-" {
		return nil
	}
	headings := []string{r.policy}
	if len(all) > 1 {
		headings = headings[:0]
		for _, w := range all {
			headings = append(headings, w.Name)
		}
	}
	_, err = io.WriteString(cmd.OutOrStdout(), compare.Text(headings, metrics, false))
	return err
}

// one replays one log. If there are several logs, each gets its own folder.
func (r *replayFlags) one(cmd *cobra.Command, w *compare.Replayed, policy []policy.Policy, several bool) (replay.Metrics, error) {
	runs, err := replayed(cmd.Context(), w, policy)
	if err != nil {
		return replay.Metrics{}, fmt.Errorf("replay %s: %w", w.Name, err)
	}
	folder := r.out
	if folder != "" && several {
		folder = filepath.Join(folder, w.Name)
	}
	if err := r.save(cmd, w, runs[0], folder); err != nil {
		return replay.Metrics{}, err
	}
	if r.csv != "-" {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), w)
	}
	return runs[0].Metrics, err
}

// only writes jobs.csv to standard output, without metrics.
func (r *replayFlags) only(cmd *cobra.Command, w *compare.Replayed, p policy.Policy) error {
	w.Log = nil // frees the memory of the log, which is larger than the jobs to replay
	result, placed, err := compare.Once(cmd.Context(), w.Workload, p)
	if err != nil {
		return fmt.Errorf("replay %s: %w", w.Name, err)
	}
	return replay.WriteJobs(cmd.OutOrStdout(), w.Selected, result, placed)
}

// save writes the files that the flags name. If one of them cannot be written, it writes none.
func (r *replayFlags) save(cmd *cobra.Command, w *compare.Replayed, run compare.Run, folder string) error {
	if folder == "" && r.csv == "" {
		return nil
	}
	placed, err := replay.Place(w.Workload, run.Result)
	if err != nil {
		return err
	}
	var all []files.File
	if folder != "" {
		report, err := w.Report(folder, []compare.Run{run}, []*replay.Placement{placed}, commandLine(), r.figures)
		if err != nil {
			return err
		}
		all = append(w.Files(folder, run, placed), report...)
	}
	jobs := func(out io.Writer) error { return replay.WriteJobs(out, w.Selected, run.Result, placed) }
	if r.csv != "" && r.csv != "-" {
		all = append(all, files.File{Path: r.csv, Write: jobs})
	}
	if err := files.Save(all...); err != nil {
		return err
	}
	if r.csv == "-" {
		return jobs(cmd.OutOrStdout())
	}
	return nil
}

// commandLine returns the command line, for the notes of a report.
func commandLine() string { return "accordion " + strings.Join(os.Args[1:], " ") }

// replayed replays a log under some policies, with a progress bar.
func replayed(ctx context.Context, w *compare.Replayed, policies []policy.Policy) ([]compare.Run, error) {
	done, over := command.ProgressTo(len(w.Jobs)*len(policies), w.Name, progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("jobs"), progressbar.OptionSetPredictTime(true))
	defer over()
	return compare.Replay(ctx, w.Workload, policies, done)
}
