package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"accordion/core"
	"accordion/core/evolve"
	"accordion/core/place"
)

func init() { subcommands = append(subcommands, scheduleCommand) }

func scheduleCommand() *cobra.Command {
	var s scheduleFlags
	c := &cobra.Command{
		Use:   "schedule [flags] FILE|-",
		Short: "Place evolving applications on a machine, one after the other",
		Long: `Read a machine and evolving applications from a file (or standard input, -):

  {"nodes":100,"busy":[[1200,10]],"applications":[{"id":"a","ep":[[500,5],[3600,10]]},{"id":"b","ep":"5x500s,10x1h"}]}

and write as JSON when each starts and how long its steps last. Pairs are seconds and nodes; times are seconds from 0;
busy, what occupies the machine already, may be absent.

Algorithms (Klein and Perez, CoreGRID 2011): rigid sees an application as its peak for its whole duration; noX never
expands a step; 2X lets a step last up to twice its duration while it waits for the next one's nodes; infX as long as
need be; +c starts each application as late as the same completion allows, which saves reserved nodes; +opt lets its
steps wait where this wastes the fewest node-seconds that the same completion allows. Another limit is written in the
place of the 2, as in 1.5X+opt.

Metrics: areas are node-seconds; waste, utilisation, expanded, expansion and app_waste are percentages; relative are
ratios to the rigid schedule of the same applications (null where that has 0).`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(fmt.Errorf("schedule: give one FILE, or - for standard input; there are %d arguments", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args[0]) },
	}
	c.Flags().IntVar(&s.nodes, "nodes", 0, "size of the machine (default: as in the file)")
	c.Flags().StringVar(&s.algorithm, "algorithm", "2X+c", evolve.AlgorithmNames)
	c.Flags().StringVar(&s.limit, "expand-limit", "", "how many times its duration a step may last, such as 1.5, or inf (default: the algorithm's)")
	c.Flags().BoolVar(&s.compact, "compact", false, "compact, as the algorithms that end in +c do")
	c.Flags().StringVar(&s.order, "order", "fcfs", "which application is placed first: fcfs (as in the file), area (largest) or lpt (longest)")
	c.Flags().BoolVar(&s.nodeIDs, "node-ids", false, "name the nodes of each step, 0 to N-1")
	return c
}

type scheduleFlags struct {
	nodes                   int
	algorithm, limit, order string
	compact, nodeIDs        bool
}

func (s *scheduleFlags) run(cmd *cobra.Command, file string) error {
	algorithm, err := s.chosen(cmd)
	if err != nil {
		return usage(fmt.Errorf("schedule: %w", err))
	}
	order, isOrder := map[string]func([]core.EP) []int{"fcfs": evolve.InOrder, "area": evolve.ByArea, "lpt": evolve.ByLength}[s.order]
	if !isOrder {
		return usage(fmt.Errorf("schedule: --order %s is not fcfs, area or lpt; searching for an order is not part of this version", core.Shown(s.order)))
	}
	problem, err := s.read(cmd.InOrStdin(), file)
	if err != nil {
		return err
	}
	eps := problem.Profiles()
	plan, err := evolve.Schedule(problem.Profile(), eps, order(eps), algorithm)
	if err != nil {
		return fmt.Errorf("scheduling %s: %w", file, err)
	}
	rigid, err := evolve.Schedule(problem.Profile(), eps, order(eps), evolve.Algorithm{Rigid: true})
	if err != nil {
		return fmt.Errorf("scheduling %s rigidly, to compare: %w", file, err)
	}
	result := report(problem, algorithm, plan, rigid)
	if s.nodeIDs {
		if err := result.name(problem, plan); err != nil {
			return fmt.Errorf("naming the nodes for %s: %w", file, err)
		}
	}
	text, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("writing the schedule of %s: %w", file, err)
	}
	_, err = cmd.OutOrStdout().Write(append(text, '\n'))
	return err
}

// chosen is the algorithm that the flags together mean.
func (s *scheduleFlags) chosen(cmd *cobra.Command) (evolve.Algorithm, error) {
	if cmd.Flags().Changed("nodes") && (s.nodes < 1 || s.nodes > core.MaxNodes) {
		return evolve.Algorithm{}, fmt.Errorf("--nodes %d is not 1 to %d", s.nodes, core.MaxNodes)
	}
	a, err := evolve.ParseAlgorithm(s.algorithm)
	if err != nil {
		return a, err
	}
	limited := cmd.Flags().Changed("expand-limit")
	if a.Rigid && (s.compact || limited) {
		return a, errors.New("--algorithm rigid knows neither --expand-limit nor --compact; take 2X")
	}
	if limited {
		if a.Limit, err = evolve.ParseLimit(s.limit); err != nil {
			return a, err
		}
	}
	a.Compact = a.Compact || s.compact
	return a, nil
}

// largestProblem bounds what is read into memory, in bytes.
const largestProblem = 256 << 20

// read reads the problem; what is wrong with it is said in one line with file and line.
func (s *scheduleFlags) read(stdin io.Reader, file string) (*evolve.Problem, error) {
	from, name := stdin, "standard input"
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, usage(fmt.Errorf("%w; name a file that describes the machine and the applications", err))
		}
		defer f.Close()
		from, name = f, file
	}
	text, err := io.ReadAll(io.LimitReader(from, largestProblem+1))
	if err != nil {
		return nil, usage(fmt.Errorf("reading %s: %w", name, err))
	}
	if len(text) > largestProblem {
		return nil, usage(fmt.Errorf("%s: more than %d MiB; split the problem", name, largestProblem>>20))
	}
	problem, err := evolve.ParseProblem(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), s.nodes)
	var wrong *evolve.ProblemError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return nil, usage(fmt.Errorf("%s:%d: %w", name, wrong.Line, wrong.Err))
	case errors.As(err, &wrong):
		return nil, usage(fmt.Errorf("%s:%d: %s: %w", name, wrong.Line, wrong.Field, wrong.Err))
	}
	return problem, err
}

// schedule is the result as JSON.
type schedule struct {
	Nodes        int                    `json:"nodes"`
	Algorithm    string                 `json:"algorithm"`
	Makespan     core.Time              `json:"makespan"`
	Applications []scheduledApplication `json:"applications"`
	Metrics      scheduleMetrics        `json:"metrics"`
}

type scheduledApplication struct {
	ID         string          `json:"id"`
	Start      core.Time       `json:"start"`
	Completion core.Time       `json:"completion"`
	Scheduled  core.EP         `json:"scheduled_ep"` // from second 0 on: a step of 0 nodes until the start
	Steps      []scheduledStep `json:"steps"`
}

type scheduledStep struct {
	Start   core.Time `json:"start"`
	End     core.Time `json:"end"`
	Nodes   int       `json:"nodes"`
	NodeIDs []int     `json:"node_ids,omitempty"`
}

type scheduleMetrics struct {
	Requested   int64            `json:"requested_area"`
	Reserved    int64            `json:"reserved_area"`
	Waste       float64          `json:"waste"`
	Utilisation float64          `json:"utilisation"`
	Completion  float64          `json:"mean_completion"`
	Waiting     float64          `json:"mean_waiting"`
	Expanded    float64          `json:"expanded"`
	Expansion   float64          `json:"expansion"`
	AppWaste    float64          `json:"app_waste"`
	Relative    scheduleRelative `json:"relative"`
}

type scheduleRelative struct {
	Reservation *float64 `json:"reservation"`
	Makespan    *float64 `json:"makespan"`
	Completion  *float64 `json:"completion"`
	Waiting     *float64 `json:"waiting"`
}

func report(p *evolve.Problem, a evolve.Algorithm, plan, rigid []core.Allocation) *schedule {
	m := evolve.Measure(p.Nodes, p.Profiles(), plan)
	r := m.RelativeTo(evolve.Measure(p.Nodes, p.Profiles(), rigid))
	result := &schedule{Nodes: p.Nodes, Algorithm: a.String(), Makespan: m.Makespan, Applications: []scheduledApplication{},
		Metrics: scheduleMetrics{m.Requested, m.Reserved, m.Waste, m.Utilisation, m.Completion, m.Waiting, m.Expanded, m.Expansion, m.AppWaste,
			scheduleRelative{known(r.Reservation), known(r.Makespan), known(r.Completion), known(r.Waiting)}}}
	for i, placed := range plan {
		app := scheduledApplication{ID: p.Applications[i].ID, Start: placed.Start, Completion: placed.End()}
		if placed.Start > 0 {
			app.Scheduled = core.EP{{Duration: placed.Start}}
		}
		app.Scheduled = append(app.Scheduled, placed.EP...)
		at := placed.Start
		for _, s := range placed.EP {
			app.Steps = append(app.Steps, scheduledStep{Start: at, End: at + s.Duration, Nodes: s.Nodes})
			at += s.Duration
		}
		result.Applications = append(result.Applications, app)
	}
	return result
}

// known is a ratio, or nil where there is none.
func known(ratio float64) *float64 {
	if ratio < 0 {
		return nil
	}
	return &ratio
}

// name gives every step its node IDs. What occupies the machine already takes part, for it needs nodes too.
func (s *schedule) name(p *evolve.Problem, plan []core.Allocation) error {
	all := append(plan[:len(plan):len(plan)], core.Allocation{Job: core.JobID(len(plan)), EP: p.Busy})
	named, err := place.Assign(p.Nodes, all, nil)
	if err != nil {
		return err
	}
	for i := range s.Applications {
		for j := range s.Applications[i].Steps {
			s.Applications[i].Steps[j].NodeIDs = named[i][j].Nodes
		}
	}
	return nil
}
