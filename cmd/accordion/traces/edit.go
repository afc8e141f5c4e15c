package traces

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"github.com/spf13/pflag"

	"accordion/core"
	"accordion/traces/swf"
)

// write writes the log as the flags request, completely or not at all.
func (o *logOutput) write(cmd *cobra.Command, log *swf.Log) error {
	if o.sort {
		swf.Sort(log)
	}
	if o.rezero {
		swf.Rezero(log)
	}
	if o.renumber {
		swf.Renumber(log)
	}
	if o.path == "-" {
		return swf.Write(cmd.OutOrStdout(), log)
	}
	return swf.WriteFile(o.path, log)
}

func convertCommand() *cobra.Command {
	var out logOutput
	c := &cobra.Command{
		Use:   "convert FILE|-",
		Short: "Rewrite a log: compress, sort, begin at second 0, number from 1",
		Args:  command.OneFile,
	}
	out.flags(c)
	strict := strictFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		log, err := readLog(cmd, args[0], *strict)
		if err != nil {
			return err
		}
		return out.write(cmd, log)
	}
	return c
}

func strictFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("strict", false, "stop with an error at the first line that violates the format")
}

func cutCommand() *cobra.Command {
	var from, to string
	var s swf.Selection
	c := selectCommand(&s, "cut FILE|-", "Keep the jobs of a period, or a number of jobs",
		`Keep the jobs that were submitted in a period (--from, and before --to), or a number of jobs (--skip, --jobs).

A time counts from the log's second 0, such as 7d or 36h. If the log's header has its start, a time may also be a date in the site's
time zone, such as 2006-12-18 or 2006-12-18T12:00:00.`,
		func(log *swf.Log) error {
			for _, f := range []struct {
				flag, text string
				into       *core.Time
			}{{"from", from, &s.From}, {"to", to, &s.To}} {
				if f.text == "" {
					continue
				}
				at, err := logTime(&log.Header, f.text)
				if err != nil {
					return fmt.Errorf("--%s %s %w", f.flag, core.Shown(f.text), err)
				}
				*f.into = at
			}
			if to != "" && s.To <= max(s.From, 0) {
				return fmt.Errorf("--to %s is not after --from, or before the log begins", core.Shown(to))
			}
			return nil
		})
	c.Flags().StringVar(&from, "from", "", "jobs submitted at this time or later")
	c.Flags().StringVar(&to, "to", "", "jobs submitted before this time")
	c.Flags().IntVar(&s.Skip, "skip", 0, "skip this many jobs first")
	c.Flags().IntVar(&s.Jobs, "jobs", 0, "keep this many jobs (default: all)")
	return c
}

// logTime parses a time since the log's beginning, or a date, as a second of the log.
func logTime(h *swf.Header, text string) (core.Time, error) {
	if d, ok := command.Duration(text); ok {
		return d, nil
	}
	second, known, isDate := h.ParseDate(text)
	switch {
	case !isDate:
		return 0, errors.New("is no time: write 36h, 7d, 2006-12-18 or 2006-12-18T12:00:00")
	case !known:
		return 0, errors.New("is a date, and the log has no UnixStartTime; give the time since its beginning, such as 7d")
	}
	return second, nil
}

func filterCommand() *cobra.Command {
	var s swf.Selection
	var minRun, maxRun, minRequest, maxRequest, status string
	lists := map[string]*string{}
	c := selectCommand(&s, "filter FILE|-", "Keep jobs by size, length, user, status",
		`Keep the jobs that meet all conditions, or with --invert the other jobs. Sizes are processors (requested, else allocated). Times are
written 90s, 10m, 1h30m, 2d. Lists are numbers separated by commas: --user 3,17.

--status takes failed, completed, cancelled, or the format's numbers.`,
		func(*swf.Log) error {
			for _, f := range []struct {
				flag, text string
				into       *core.Time
			}{{"min-run", minRun, &s.MinRun}, {"max-run", maxRun, &s.MaxRun}, {"min-request", minRequest, &s.MinRequest}, {"max-request", maxRequest, &s.MaxRequest}} {
				d, ok := command.Duration(f.text)
				if f.text != "" && (!ok || d == 0) {
					return fmt.Errorf("--%s %s is no time above 0: write %s", f.flag, core.Shown(f.text), core.DurationForms)
				}
				*f.into = d
			}
			for flag, into := range map[string]*[]int32{"user": &s.Users, "group": &s.Groups, "application": &s.Applications, "queue": &s.Queues, "partition": &s.Partitions} {
				var err error
				if *into, err = numberList(*lists[flag], nil); err != nil {
					return fmt.Errorf("--%s: %w", flag, err)
				}
			}
			statuses, err := numberList(status, map[string]int32{"failed": int32(swf.Failed), "completed": int32(swf.Completed), "cancelled": int32(swf.Cancelled)})
			if err != nil {
				return fmt.Errorf("--status: %w", err)
			}
			s.Statuses = nil
			for _, n := range statuses {
				s.Statuses = append(s.Statuses, swf.Status(n))
			}
			return nil
		})
	c.Flags().Int64Var(&s.MinSize, "min-size", 0, "minimum number of processors")
	c.Flags().Int64Var(&s.MaxSize, "max-size", 0, "maximum number of processors")
	c.Flags().StringVar(&minRun, "min-run", "", "minimum run time")
	c.Flags().StringVar(&maxRun, "max-run", "", "maximum run time")
	c.Flags().StringVar(&minRequest, "min-request", "", "minimum requested time")
	c.Flags().StringVar(&maxRequest, "max-request", "", "maximum requested time")
	for _, flag := range []string{"user", "group", "application", "queue", "partition"} {
		lists[flag] = c.Flags().String(flag, "", flag+"s by number, such as 3,17")
	}
	c.Flags().StringVar(&status, "status", "", "how the jobs ended: failed, completed, cancelled, or numbers of the format")
	command.CompleteList(c, "status", "failed", "completed", "cancelled")
	c.Flags().BoolVar(&s.Invert, "invert", false, "keep the other jobs")
	return c
}

// numberList parses numbers separated by commas. The keys of `words` are also accepted, as names of numbers.
func numberList(text string, words map[string]int32) (list []int32, err error) {
	if text == "" {
		return nil, nil
	}
	for piece := range strings.SplitSeq(text, ",") {
		n, isWord := words[piece]
		if !isWord {
			wide, err := strconv.ParseInt(piece, 10, 32)
			if err != nil {
				if len(words) > 0 {
					return nil, fmt.Errorf("%s is not %s or a number of the format's", core.Shown(piece), strings.Join(slices.Sorted(maps.Keys(words)), ", "))
				}
				return nil, fmt.Errorf("%s is no number; write a list such as 3,17", core.Shown(piece))
			}
			n = int32(wide)
		}
		list = append(list, n)
	}
	return list, nil
}

// selectCommand returns a command that keeps some jobs of a log. The function `settle` completes the selection from the flags.
func selectCommand(s *swf.Selection, use, short, description string, settle func(*swf.Log) error) *cobra.Command {
	var out logOutput
	c := &cobra.Command{Use: use, Short: short, Long: description, Args: command.OneFile}
	out.flags(c)
	strict := strictFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if min(s.Skip, s.Jobs, int(s.MinSize), int(s.MaxSize)) < 0 {
			return command.Usage(fmt.Errorf("%s: a number of jobs or processors is not negative", cmd.Name()))
		}
		log, err := readLog(cmd, args[0], *strict)
		if err != nil {
			return err
		}
		if err := settle(log); err != nil {
			return command.Usage(fmt.Errorf("%s: %w", cmd.Name(), err))
		}
		removed := swf.Select(log, *s)
		if removed > 0 {
			log.Header.Add("Note", fmt.Sprintf("accordion trace %s%s (%d jobs removed)", cmd.Name(), said(cmd), removed))
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "accordion: %d jobs of %d are kept\n", swf.CountJobs(log), swf.CountJobs(log)+removed)
		return out.write(cmd, log)
	}
	return c
}

// said returns the flags of the command line as text, without the output flags.
func said(cmd *cobra.Command) string {
	var b strings.Builder
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "out" && f.Name != "strict" {
			fmt.Fprintf(&b, " --%s=%s", f.Name, f.Value)
		}
	})
	return b.String()
}
