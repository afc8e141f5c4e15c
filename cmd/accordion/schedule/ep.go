package schedule

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"accordion/cmd/accordion/command"
	"accordion/core"
	"accordion/core/ep"
	"accordion/traces/advise"
)

// mostScript limits how much of a script is read. The Slurm plug-in has the same limit.
const mostScript = 1 << 20

// EP returns the command "accordion ep".
func EP() *cobra.Command {
	c := &cobra.Command{Use: "ep", Short: "Check evolution profiles"}
	var nodes int
	options := map[string]*string{}
	check := &cobra.Command{
		Use:   "check [flags] [PROFILE|SCRIPT|-]",
		Short: "Draw a profile, or list its mistakes",
		Long: `Draw an evolution profile, or list the sizes of a moldable job. Show the node-hours that the job holds, and how many a rigid job
would hold. If the request is wrong, show each mistake with its column.

PROFILE may be

  5x500s,10x1h                        a profile
  2x1h,8x1h|4x40m,16x40m              alternative profiles
  4x2h|8x70m                          sizes of a moldable job
  amdahl:p=0.99,t1=10h,nodes=1-256    a speed-up model

also with "#EP", "#MOLD", "ep=" or "--mold=" before it. Loose forms such as "2 x 1.5h" are read, too, and the form that sbatch and
oarsub accept is printed.

SCRIPT is a job script, - is standard input. The lines before the first command are read as sbatch and oarsub read them.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return command.Usage(fmt.Errorf("ep check: give one profile, such as 5x500s,10x1h, or one script; there are %d arguments", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if nodes < 1 || nodes > core.MaxNodes {
				return command.Usage(fmt.Errorf("ep check: --nodes %d is not from 1 to %d", nodes, core.MaxNodes))
			}
			for word, text := range options {
				if *text != "" {
					args = append(args, strings.TrimPrefix(word+"="+*text, "comment="))
				}
			}
			if len(args) > 1 {
				return command.Usage(errors.New("ep check: give one profile or one script"))
			}
			request, mistakes, err := read(cmd.InOrStdin(), args, nodes)
			if err != nil {
				return command.Usage(err)
			}
			for i, err := range mistakes {
				if i == len(mistakes)-1 {
					return command.Usage(err)
				}
				fmt.Fprintln(cmd.ErrOrStderr(), "accordion:", err)
			}
			return show(cmd.OutOrStdout(), request)
		},
	}
	check.Flags().IntVar(&nodes, "nodes", core.MaxNodes, "nodes of the machine; a larger step is a mistake")
	for _, word := range []string{"ep", "mold", "comment"} { // users may paste these options of sbatch
		options[word] = check.Flags().String(word, "", "the request as an option of sbatch")
		_ = check.Flags().MarkHidden(word) // cannot fail: the flag exists
	}
	c.AddCommand(check)
	return c
}

// read returns the request on the command line, in a script, or on standard input, with its errors.
func read(in io.Reader, args []string, nodes int) (advise.Request, []error, error) {
	fail := func(err error) (advise.Request, []error, error) {
		return advise.Request{}, nil, fmt.Errorf("ep check: %w", err)
	}
	if len(args) == 0 {
		if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			return fail(errors.New("give one profile, such as 5x500s,10x1h, or a script"))
		}
	} else if args[0] != "-" {
		info, err := os.Stat(args[0])
		switch {
		case err == nil && info.Mode().IsRegular():
			file, err := os.Open(args[0])
			if err != nil {
				return fail(err)
			}
			defer file.Close()
			in = file
		case strings.Contains(args[0], "/") && !strings.ContainsAny(args[0], ",|="):
			return fail(fmt.Errorf("%s is neither a profile, such as 5x500s,10x1h, nor a script's file", core.Shown(args[0])))
		default:
			request, mistakes := advise.Check(args[0], nodes)
			return request, mistakes, nil
		}
	}
	text, err := io.ReadAll(io.LimitReader(in, mostScript))
	if err != nil {
		return fail(err)
	}
	script := string(text)
	if strings.TrimSpace(script) == "" {
		return fail(errors.New("nothing is on standard input: give one profile, such as 5x500s,10x1h, or a script"))
	}
	if !strings.Contains(strings.TrimSpace(script), "\n") && !strings.HasPrefix(script, "#!") {
		request, mistakes := advise.Check(script, nodes)
		return request, mistakes, nil
	}
	request, mistakes := advise.CheckScript(script, nodes)
	return request, mistakes, nil
}

// show draws each profile, or lists the configurations, with node-hours.
func show(w io.Writer, r advise.Request) error {
	var b strings.Builder
	if r.Loose {
		fmt.Fprintf(&b, "sbatch and oarsub take this form only: #%s %s   or   %s=%[2]s\n\n", strings.ToUpper(r.Word), r.Text, r.Word)
	}
	if r.Word == "mold" {
		configurations(&b, r.Choices)
	} else {
		for i, ep := range r.Choices {
			if len(r.Choices) > 1 {
				fmt.Fprintf(&b, "Alternative %d of %d:\n", i+1, len(r.Choices))
			}
			drawn(&b, ep)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// drawn draws a profile and prints its node-hours.
func drawn(b *strings.Builder, requested core.EP) {
	rigid := int64(requested.Peak()) * requested.Total()
	fmt.Fprintf(b, "%s\n%s: %s, %s, at most %s.\nIt holds %.2f node-hours. A rigid job would hold %.2f, %.0f %% of it unused.\n", advise.Draw(requested, 60, 12),
		ep.Format(requested), number(len(requested), "step"), core.FormatDuration(requested.Total()), number(requested.Peak(), "node"), float64(requested.Area())/3600, float64(rigid)/3600, 100*float64(rigid-requested.Area())/float64(rigid))
}

// mostShown limits the table of configurations.
const mostShown = 20

// configurations writes a table of moldable configurations.
func configurations(b *strings.Builder, choices []core.EP) {
	fmt.Fprintf(b, "%7s  %12s  %10s\n", "nodes", "time", "node-hours")
	for i, ep := range choices {
		if len(choices) > mostShown && i >= mostShown-1 && i < len(choices)-1 {
			if i == mostShown-1 {
				fmt.Fprintf(b, "%7s\n", "...")
			}
			continue
		}
		fmt.Fprintf(b, "%7d  %12s  %10.2f\n", ep.Peak(), core.FormatDuration(ep.Total()), float64(ep.Area())/3600)
	}
	fmt.Fprintf(b, "\n%s: the scheduler chooses one when the job starts.\n", number(len(choices), "size"))
}

// number returns a count with its noun, as in "1 step" or "3 steps".
func number(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
