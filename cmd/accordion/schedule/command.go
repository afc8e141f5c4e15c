package schedule

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/core"
	"accordion/core/ep"
	"accordion/core/order"
)

// Command returns the command "accordion schedule".
func Command() *cobra.Command {
	var s scheduleFlags
	c := &cobra.Command{
		Use:   "schedule [flags] FILE|-",
		Short: "Schedule evolving applications on one machine, from a JSON file",
		Long: `Read a machine and evolving applications from a file (or standard input, -):

  {"nodes":100,"busy":[[1200,10]],"applications":[{"id":"a","ep":[[500,5],[3600,10]]},{"id":"b","ep":"5x500s,10x1h"}]}

and write as JSON when each application starts and how long its steps last. Pairs are seconds and nodes. Times are seconds from 0.
The key busy lists nodes that are already occupied; it is optional.

Algorithms (Klein and Perez, CoreGRID 2011):

  rigid    the application holds its peak for its whole duration
  noX      a step is never extended
  2X       a step lasts up to twice its duration, while it waits for the nodes of the next step
  1.5X     the same with another limit
  infX     a step waits for the next step's nodes as long as necessary
  +c       also start each application as late as possible without moving its end: this saves reserved nodes
  +opt     also let the steps wait where the fewest node-seconds are wasted, without moving the end

--order search looks for the order in which the last application ends earliest. It tries --evals orders, or searches for --budget,
such as 2s, whichever ends first. With --evals alone, the same problem, flags and seed give the same schedule. No schedule can end
before lower_bound.

Metrics:

  areas                                                 node-seconds
  waste, utilisation, expanded, expansion, app_waste    percentages
  reservation, makespan, act, awt                       ratios to the rigid schedule of the file; null if that value is 0
  relative                                              the same ratios under other names

act is the mean completion time, awt the mean waiting time.`,
		Args: command.OneFile,
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args[0]) },
	}
	c.Flags().IntVar(&s.nodes, "nodes", 0, "size of the machine (default: as in the file)")
	c.Flags().StringVar(&s.algorithm, "algorithm", "2X+c", ep.AlgorithmNames)
	c.Flags().StringVar(&s.limit, "expand-limit", "", "a step may last at most this many times its duration, such as 1.5, or inf (default: the algorithm's limit)")
	c.Flags().BoolVar(&s.compact, "compact", false, "compact the schedule, like the algorithms that end in +c")
	c.Flags().StringVar(&s.order, "order", "fcfs", "which application is placed first: fcfs (order of the file), area (largest), lpt (longest), or search (best order)")
	c.Flags().IntVar(&s.evals, "evals", 0, "how many orders --order search tries (default: 20000, or as many as --budget allows)")
	c.Flags().DurationVar(&s.budget, "budget", 0, "how long --order search may take, such as 500ms or 2s")
	c.Flags().Uint64Var(&s.seed, "seed", 1, "random seed of --order search")
	command.Complete(c, "algorithm", ep.Names()...)
	command.Complete(c, "order", append(slices.Sorted(maps.Keys(orders)), "search")...)
	c.Flags().BoolVar(&s.nodeIDs, "node-ids", false, "list the nodes of each step, numbered from 0 to N-1")
	return c
}

type scheduleFlags struct {
	nodes                   int
	algorithm, limit, order string
	compact, nodeIDs        bool
	evals                   int
	budget                  time.Duration
	seed                    uint64
}

// defaultEvals is the default number of orders that are tried. It takes about a second for 20 applications.
const defaultEvals = 20000

// orders has the rules of --order.
var orders = map[string]func([]core.EP) []int{"fcfs": ep.InOrder, "area": ep.ByArea, "lpt": ep.ByLength}

func (s *scheduleFlags) run(cmd *cobra.Command, file string) error {
	algorithm, err := s.chosen(cmd)
	if err != nil {
		return command.Usage(fmt.Errorf("schedule: %w", err))
	}
	problem, err := s.read(cmd.InOrStdin(), file)
	if err != nil {
		return err
	}
	found, err := s.place(cmd.Context(), problem, algorithm)
	if err != nil {
		return fmt.Errorf("schedule %s: %w", file, err)
	}
	rigid, err := ep.Schedule(problem.Profile(), problem.Profiles(), nil, ep.Algorithm{Rigid: true})
	if err != nil {
		return fmt.Errorf("schedule %s as rigid, for comparison: %w", file, err)
	}
	result := scheduled(problem, algorithm, found, rigid)
	result.Order = s.order
	if s.nodeIDs {
		if err := result.name(problem, found.Plan); err != nil {
			return fmt.Errorf("assign nodes for %s: %w", file, err)
		}
	}
	text, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("write the schedule of %s: %w", file, err)
	}
	_, err = cmd.OutOrStdout().Write(append(text, '\n'))
	return err
}

// place schedules the problem in the order that the flags select.
func (s *scheduleFlags) place(ctx context.Context, problem *Problem, a ep.Algorithm) (order.Result, error) {
	eps := problem.Profiles()
	if rule, ok := orders[s.order]; ok {
		plan, err := ep.Schedule(problem.Profile(), eps, rule(eps), a)
		return order.Result{Plan: plan, Bound: order.LowerBound(problem.Profile(), eps, a), Evals: 1}, err
	}
	search := order.Search{Algorithm: a, Seed: s.seed, Evals: s.evals}
	if s.evals == 0 && s.budget == 0 {
		search.Evals = defaultEvals
	}
	begin := time.Now()
	search.Spent = func() float64 {
		switch {
		case ctx.Err() != nil:
			return 1
		case s.budget == 0:
			return 0
		}
		return float64(time.Since(begin)) / float64(s.budget)
	}
	found, err := search.Run(problem.Profile(), eps)
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("the search was interrupted: %w", context.Cause(ctx))
	}
	return found, err
}

// chosen returns the algorithm that the flags describe.
func (s *scheduleFlags) chosen(cmd *cobra.Command) (ep.Algorithm, error) {
	if cmd.Flags().Changed("nodes") && (s.nodes < 1 || s.nodes > core.MaxNodes) {
		return ep.Algorithm{}, fmt.Errorf("--nodes %d is not 1 to %d", s.nodes, core.MaxNodes)
	}
	if _, isRule := orders[s.order]; !isRule && s.order != "search" {
		return ep.Algorithm{}, fmt.Errorf("--order %s is not fcfs, area, lpt or search", core.Shown(s.order))
	}
	if s.evals < 0 || cmd.Flags().Changed("evals") && s.evals == 0 {
		return ep.Algorithm{}, fmt.Errorf("--evals %d is not at least 1", s.evals)
	}
	if s.budget < 0 || cmd.Flags().Changed("budget") && s.budget == 0 {
		return ep.Algorithm{}, fmt.Errorf("--budget %s is not above 0; give 500ms, 2s or 1m", s.budget)
	}
	for _, flag := range []string{"evals", "budget", "seed"} {
		if cmd.Flags().Changed(flag) && s.order != "search" {
			return ep.Algorithm{}, fmt.Errorf("--%s needs --order search: add that, or leave it out", flag)
		}
	}
	a, err := ep.ParseAlgorithm(s.algorithm)
	if err != nil {
		return a, err
	}
	limited := cmd.Flags().Changed("expand-limit")
	if a.Rigid && (s.compact || limited) {
		return a, errors.New("--algorithm rigid supports neither --expand-limit nor --compact; use 2X")
	}
	if limited {
		if a.Limit, err = ep.ParseLimit(s.limit); err != nil {
			return a, err
		}
	}
	a.Compact = a.Compact || s.compact
	return a, nil
}

// largestProblem limits what is read into memory, in bytes.
const largestProblem = 256 << 20

// read reads the problem. Its error names the file and line.
func (s *scheduleFlags) read(stdin io.Reader, file string) (*Problem, error) {
	from, name := stdin, "standard input"
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, command.Usage(fmt.Errorf("%w; name a file that describes the machine and the applications", err))
		}
		defer f.Close()
		from, name = f, file
	}
	text, err := io.ReadAll(io.LimitReader(from, largestProblem+1))
	if err != nil {
		return nil, command.Usage(fmt.Errorf("reading %s: %w", name, err))
	}
	if len(text) > largestProblem {
		return nil, command.Usage(fmt.Errorf("%s: more than %d MiB; split the problem", name, largestProblem>>20))
	}
	read, err := Parse(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), s.nodes)
	var wrong *Error
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return nil, command.Usage(fmt.Errorf("%s:%d: %w", name, wrong.Line, wrong.Err))
	case errors.As(err, &wrong):
		return nil, command.Usage(fmt.Errorf("%s:%d: %s: %w", name, wrong.Line, wrong.Field, wrong.Err))
	}
	return read, err
}
