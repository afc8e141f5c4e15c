package traces

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/core/sizing"
	"accordion/traces/compare"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// workloadFlags are the flags that select the jobs to replay.
type workloadFlags struct {
	machine                         machineFlag
	procsPerNode, limit             int
	estimates, window, scale, rate  string
	evolving, moldable, shape, same string
	curve, offer                    string
	malleable, sizes, points, cost  string
	seed                            uint64
	strict, figures                 bool
	order, statistics               string
}

// register adds the flags to a command.
func (f *workloadFlags) register(c *cobra.Command) {
	flags := c.Flags()
	f.machine.register(c)
	flags.IntVar(&f.procsPerNode, "procs-per-node", 1, "schedule whole nodes with this many processors")
	flags.StringVar(&f.estimates, "estimates", "requested", "requested time of the jobs: requested (as in the log), actual (the run time), or ×F (xF), F times the run time")
	flags.StringVar(&f.scale, "scale-load", "", "let jobs arrive faster by this factor, such as 1.25")
	flags.StringVar(&f.rate, "arrival-rate", "", "let jobs arrive evenly, at this rate per second, such as 1")
	flags.StringVar(&f.window, "window", "", "only jobs submitted in FROM..TO, as times since the log's beginning (30d..60d, 0..86400) or dates (2006-12-01..2007-01-01)")
	flags.IntVar(&f.limit, "limit", 0, "only this many jobs, from the beginning of the log")
	flags.BoolVar(&f.strict, "strict", false, "stop with an error at the first line that violates the format")
	flags.StringVar(&f.order, "order", "fcfs", "order of the queue: fcfs (order of submission), sjf (shortest request first), ljf (longest request first)")
	flags.StringVar(&f.statistics, "statistics", "", "a file of \"accordion trace statistics\", for policies that predict arrivals (default: the jobs replayed so far)")
	flags.StringVar(&f.evolving, "evolving", "0%", "make this share of the jobs evolving, such as 30%")
	flags.StringVar(&f.shape, "shape", "mountain", "how the size of evolving jobs changes: ramp-up, ramp-down, mountain, pre-main-post, random")
	flags.StringVar(&f.same, "same", "peak", "what an evolving job has in common with the log's job: size and peak (peak), or node-time (area)")
	flags.StringVar(&f.moldable, "moldable", "0%", "make this share of the jobs moldable (other jobs than --evolving)")
	flags.StringVar(&f.malleable, "malleable", "0%", "make this share of the jobs malleable: a policy such as malleable changes their sizes while they run")
	flags.StringVar(&f.sizes, "range", workload.UsualMalleable.Bounds.String(), "sizes of malleable jobs, as multiples of the log's size")
	flags.StringVar(&f.points, "points", "300s", "time between two resize points of a malleable job, counted from its start; never: they change no size")
	flags.StringVar(&f.cost, "cost", "30s", "time without progress for each resize of a malleable job")
	flags.StringVar(&f.curve, "curve", workload.Table1.String(), "how fast moldable and malleable jobs are on other sizes: table1 (of RR-7389), piecewise (of SCOJO-P; the default of malleable jobs), downey (of Cirne and Berman)")
	flags.StringVar(&f.offer, "offer", "", "which sizes moldable jobs list: all (at most 128), three (smallest, log's, largest), powers (of two) (default: powers with table1, else all)")
	flags.Uint64Var(&f.seed, "seed", 1, "random seed for the choice of evolving and moldable jobs")
	flags.BoolVar(&f.figures, "figures", false, "with -o DIR: also write each figure of the report as SVG and PNG to DIR/figures")
	command.Complete(c, "order", "fcfs", "sjf", "ljf")
	command.Complete(c, "shape", workload.ShapeNames()...)
	command.Complete(c, "same", "peak", "area")
	command.Complete(c, "curve", workload.CurveNames()...)
	command.Complete(c, "offer", workload.OfferNames()...)
	command.Complete(c, "estimates", "requested", "actual", "x2")
}

// supposes reports whether the flags make some jobs evolving, moldable or malleable.
func (f *workloadFlags) supposes(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("evolving") || cmd.Flags().Changed("moldable") || cmd.Flags().Changed("malleable")
}

var errFigures = errors.New("--figures goes with -o DIR: they are drawn into DIR/figures")

// load reads a log, or standard input if the path is -, and makes some of its jobs evolving or moldable. Its errors are usage errors.
func (f *workloadFlags) load(cmd *cobra.Command, path string) (*compare.Replayed, error) {
	w, whatIf, err := f.read(cmd, path)
	if err == nil {
		w.Supposed = whatIf.Apply(&w.Workload)
	}
	return w, err
}

// read reads a log, and returns the change that load makes to its jobs.
func (f *workloadFlags) read(cmd *cobra.Command, path string) (*compare.Replayed, workload.WhatIf, error) {
	selection, whatIf, err := f.parse(cmd)
	if err != nil {
		return nil, whatIf, command.Usage(err)
	}
	log, err := openLog(cmd, path, f.strict)
	if err != nil {
		return nil, whatIf, err
	}
	for _, line := range log.Warnings.Lines() {
		fmt.Fprintln(cmd.ErrOrStderr(), "accordion:", line)
	}
	if f.window != "" {
		if selection.Window, err = workload.ParseWindow(f.window, &log.Header); err != nil {
			return nil, whatIf, command.Usage(fmt.Errorf("--window: %w", err))
		}
	}
	selected, err := selection.Select(log)
	if err != nil {
		return nil, whatIf, command.Usage(err)
	}
	return &compare.Replayed{Log: log, Selected: selected}, whatIf, nil
}

// parse parses all flags except --window, whose dates need the log's start.
func (f *workloadFlags) parse(cmd *cobra.Command) (s workload.Selection, x workload.WhatIf, err error) {
	fail := func(flag string, err error) (workload.Selection, workload.WhatIf, error) {
		return s, x, fmt.Errorf("--%s: %w", flag, err)
	}
	for _, n := range []struct {
		flag  string
		value int
		most  int
	}{{"procs-per-node", f.procsPerNode, core.MaxNodes}, {"limit", f.limit, 1 << 31}} {
		if cmd.Flags().Changed(n.flag) && (n.value < 1 || n.value > n.most) {
			return fail(n.flag, fmt.Errorf("%d is not 1 to %d", n.value, n.most))
		}
	}
	size, err := f.machine.size(cmd, f.procsPerNode)
	if err != nil {
		return s, x, err
	}
	s = workload.Selection{Machine: size, ProcsPerNode: f.procsPerNode, Limit: f.limit}
	if s.Estimates, err = workload.ParseEstimates(f.estimates); err != nil {
		return fail("estimates", err)
	}
	if f.scale != "" {
		if s.ScaleLoad, err = workload.ParseFactor("load", f.scale); err != nil {
			return fail("scale-load", err)
		}
	}
	if f.rate != "" {
		if s.ArrivalRate, err = workload.ParseFactor("arrival rate", f.rate); err != nil {
			return fail("arrival-rate", err)
		}
	}
	if f.rate != "" && f.scale != "" {
		return s, x, fmt.Errorf("--scale-load and --arrival-rate both say when jobs arrive; give one")
	}
	x.Seed = f.seed
	if x.Evolving, err = workload.ParseShare("share of jobs", f.evolving); err != nil {
		return fail("evolving", err)
	}
	if x.Moldable, err = workload.ParseShare("share of jobs", f.moldable); err != nil {
		return fail("moldable", err)
	}
	if x.Evolving+x.Moldable > 1 {
		return s, x, fmt.Errorf("--evolving %s and --moldable %s are more than all jobs", f.evolving, f.moldable)
	}
	if x.Curve, err = workload.ParseCurve(f.curve); err != nil {
		return fail("curve", err)
	}
	if x.Malleable, err = f.parseMalleable(cmd, x.Curve); err != nil {
		return s, x, err
	}
	if x.Malleable.Share+x.Evolving+x.Moldable > 1 {
		return s, x, fmt.Errorf("--malleable %s, --evolving %s and --moldable %s are more than all jobs", f.malleable, f.evolving, f.moldable)
	}
	if cmd.Flags().Changed("offer") {
		if x.Offer, err = workload.ParseOffer(f.offer); err != nil {
			return fail("offer", err)
		}
	}
	for _, flag := range []string{"curve", "offer"} {
		if cmd.Flags().Changed(flag) && !cmd.Flags().Changed("moldable") && (flag == "offer" || !cmd.Flags().Changed("malleable")) {
			return s, x, fmt.Errorf("--%s is of moldable jobs, and there are none: say how many, as in --moldable 50%%", flag)
		}
	}
	if x.Shape, err = workload.ParseShape(f.shape); err != nil {
		return fail("shape", err)
	}
	if x.Same, err = workload.ParseSame(f.same); err != nil {
		return fail("same", err)
	}
	return s, x, nil
}

// parseMalleable parses the flags for malleable jobs.
func (f *workloadFlags) parseMalleable(cmd *cobra.Command, curve workload.Curve) (m workload.MalleableJobs, err error) {
	m = workload.UsualMalleable
	if m.Share, err = workload.ParseShare("share of jobs", f.malleable); err != nil {
		return m, fmt.Errorf("--malleable: %w", err)
	}
	for _, flag := range []string{"range", "points", "cost"} {
		if cmd.Flags().Changed(flag) && !cmd.Flags().Changed("malleable") {
			return m, fmt.Errorf("--%s is of malleable jobs, and there are none: say how many, as in --malleable 30%%", flag)
		}
	}
	if m.Bounds, err = workload.ParseBounds(f.sizes); err != nil {
		return m, fmt.Errorf("--range: %w", err)
	}
	for _, d := range []struct {
		flag, text string
		value      *core.Time
		least      core.Time
	}{{"points", f.points, &m.Every, 1}, {"cost", f.cost, &m.Cost, 0}} {
		if d.flag == "points" && d.text == "never" {
			*d.value = core.Forever
			continue
		}
		seconds, ok := core.ParseDuration(d.text)
		if !ok || seconds < d.least || seconds > workload.MaxTime {
			return m, fmt.Errorf("--%s: %s is not a duration of at least %d s, such as 300s or 5m", d.flag, core.Shown(d.text), d.least)
		}
		*d.value = seconds
	}
	if cmd.Flags().Changed("curve") {
		m.Curve = curve
	}
	return m, nil
}

// policies returns the policies with the given names.
func (f *workloadFlags) policies(names ...string) ([]policy.Policy, error) {
	order, err := sched.ParseOrder(f.order)
	if err != nil {
		return nil, command.Usage(fmt.Errorf("--order: %w", err))
	}
	all := make([]policy.Policy, len(names))
	for i, name := range names {
		if all[i], err = policy.Named(name, order); err != nil {
			return nil, command.Usage(err)
		}
	}
	return all, nil
}

// errUnused is the error if no policy uses the statistics.
var errUnused = errors.New("--statistics: none of the policies predicts arrivals; those that size by load do, such as scojo-p and easy+load")

// knowing returns the policies with the statistics of the file, shifted to the log's clock.
func (f *workloadFlags) knowing(policies []policy.Policy, h *swf.Header) ([]policy.Policy, error) {
	if f.statistics == "" {
		return policies, nil
	}
	file, err := command.ReadStatistics(f.statistics)
	if err != nil {
		return nil, err
	}
	begin, _ := h.UnixStart() // 0 if the start is unknown; the file of statistics then counts from 0, too
	s := sizing.Shift(file.Statistics, begin)
	all, used := make([]policy.Policy, len(policies)), false
	for i, p := range policies {
		all[i] = p.Knowing(&s)
		used = used || all[i] != p
	}
	if !used {
		return nil, command.Usage(errUnused)
	}
	return all, nil
}
