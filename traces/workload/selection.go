package workload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"accordion/core"
	"accordion/traces/swf"
)

// Limits of a replay. Longer times and larger machines are errors in the log, and would overflow sums.
const (
	MaxTime  core.Time = 10_000_000_000 // longest time of a job, in seconds: 300 years
	MaxNodes int       = 20_000_000     // largest machine, in processors
)

// ErrNoMachine is the error for a log without the size of its machine.
var ErrNoMachine = errors.New("the header has neither MaxProcs nor MaxNodes: give the size of the machine, as in --nodes 128")

// Selection is which jobs of a log are replayed, and how they are changed. The zero value selects every usable job as the log has it.
type Selection struct {
	Machine      int       // processors of the machine; 0 means as in the header
	ProcsPerNode int       // processors per node, to convert sizes to whole nodes; if below 2, sizes stay in processors
	Estimates    Estimates // requested times of the jobs
	Window       Window    // jobs submitted outside of this window are left out
	Limit        int       // number of jobs, from the first job on; 0 means all
	ScaleLoad    Factor    // factor by which jobs arrive faster; 0 means 1
	ArrivalRate  Factor    // jobs per second, at equal intervals; 0 means that jobs arrive as in the log
}

// Window is a period of a log in its seconds, from From to before To. To 0 is the end of the log.
type Window struct{ From, To core.Time }

func (w Window) contains(t core.Time) bool { return t >= w.From && (w.To == 0 || t < w.To) }

// Reason is why a job of a log is not replayed.
type Reason uint8

// The reasons, in the order in which they are checked.
const (
	NoSubmit      Reason = iota // the submission time is unknown, or before the log's beginning
	NoRun                       // the job did not run, or its run time is unknown
	NoProcessors                // neither requested nor allocated processors are known
	TooLarge                    // more processors requested or allocated than the machine has
	NoRequest                   // no requested time, in a log in which other jobs have one
	TooLong                     // one of the job's times is above MaxTime
	OutsideWindow               // submitted outside of Selection.Window
	BeyondLimit                 // behind the first Selection.Limit jobs
	PartOfJob                   // a burst (swf.Burst) of the job before it, which is replayed
	reasons
)

var reasonNames = [reasons][2]string{
	NoSubmit:      {"no_submit_time", "without a submission time"},
	NoRun:         {"no_run_time", "that did not run"},
	NoProcessors:  {"no_processors", "without processors"},
	TooLarge:      {"larger_than_machine", "larger than the machine"},
	NoRequest:     {"no_requested_time", "without a requested time"},
	TooLong:       {"time_out_of_range", "with a time of more than 300 years"},
	OutsideWindow: {"outside_window", "outside the window"},
	BeyondLimit:   {"beyond_limit", "beyond the limit"},
	PartOfJob:     {"part_of_job", "that are parts of the job above them"},
}

// Key returns the reason for JSON: "larger_than_machine".
func (r Reason) Key() string { return reasonNames[r][0] }

// String returns the reason as it follows the word "jobs": "larger than the machine".
func (r Reason) String() string { return reasonNames[r][1] }

// LeftOut counts the jobs of a log that are not replayed, by reason.
type LeftOut [reasons]int

// Total returns the number of jobs that are left out.
func (l LeftOut) Total() int {
	sum := 0
	for _, n := range l {
		sum += n
	}
	return sum
}

// String returns the counts with their reasons: "12 that did not run, 1 larger than the machine". It returns "" if no job is left out.
func (l LeftOut) String() string {
	var parts []string
	for r, n := range l {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, Reason(r)))
		}
	}
	return strings.Join(parts, ", ")
}

// Selected is the selected jobs of a log.
type Selected struct {
	Workload
	Selection Selection // the Selection that selected the jobs
	Records   []int32   // index of each job in the log's records
	LeftOut   LeftOut
	RunOnly   bool // no job of the log has a requested time: the run times are used instead
}

// Describe returns how many jobs are replayed on which machine, which jobs are left out, and what WhatIf.Apply changed.
func (s *Selected) Describe(x Supposed) string {
	jobs := "jobs"
	if len(s.Jobs) == 1 {
		jobs = "job"
	}
	text := fmt.Sprintf("%d %s on %d nodes", len(s.Jobs), jobs, s.Machine.Nodes)
	if x != (Supposed{}) {
		kinds := fmt.Sprintf("%d of them evolving and %d moldable", x.Evolving, x.Moldable)
		if x.Malleable > 0 {
			kinds = fmt.Sprintf("%d of them malleable, %d evolving and %d moldable", x.Malleable, x.Evolving, x.Moldable)
		}
		text += ", " + kinds
	}
	switch n := x.AsBefore; {
	case n == 1:
		text += " (1 of those drawn stays as it is)"
	case n > 1:
		text += fmt.Sprintf(" (%d of those drawn stay as they are)", n)
	}
	if n := s.LeftOut.Total(); n > 0 {
		text += fmt.Sprintf("; left out %d: %s", n, s.LeftOut)
	}
	if s.RunOnly {
		text += "; no job has a requested time, so its run time stands in"
	}
	return text
}

// Select selects the jobs of a log, by rules that make replays comparable. The machine's size is the header's MaxProcs, otherwise MaxNodes. A
// job is kept if its submission is known, its run time, size and requested time are above 0, and neither its requested nor its allocated
// processors exceed the machine. Its size is the requested number of processors, or the allocated number if that is unknown. It runs at most
// for its requested time. Jobs are sorted by submission, and then as in the log.
//
// Errors are usage errors: ErrNoMachine, or a log without usable jobs.
func (s Selection) Select(log *swf.Log) (*Selected, error) {
	processors, err := s.processors(log)
	if err != nil {
		return nil, err
	}
	if len(log.Records) == 0 {
		return nil, fmt.Errorf("%s: the log has a header and no jobs", log.Name)
	}
	perNode := max(s.ProcsPerNode, 1)
	all := &Selected{Workload: Workload{Name: log.Name, Machine: core.Machine{Nodes: processors / perNode}}, RunOnly: true, Selection: s}
	if all.Machine.Nodes == 0 {
		return nil, fmt.Errorf("%s: a machine of %d processors has no node of %d", log.Name, processors, perNode)
	}
	for i := range log.Records {
		all.RunOnly = all.RunOnly && log.Records[i].RequestedTime <= 0
	}
	all.Jobs = make([]Job, 0, len(log.Records))
	all.Records = make([]int32, 0, len(log.Records))
	for i := range log.Records {
		r := &log.Records[i]
		if swf.Burst(log.Records, i) {
			all.LeftOut[PartOfJob]++
			continue
		}
		if why, out := s.unusable(r, processors, all.RunOnly); out {
			all.LeftOut[why]++
			continue
		}
		job := s.job(r, all.RunOnly, perNode)
		if ep, ok := log.EPs[r.Number]; ok {
			s.evolve(&job, ep, perNode)
		}
		if job.Size > all.Machine.Nodes {
			all.LeftOut[TooLarge]++
			continue
		}
		all.Jobs = append(all.Jobs, job)
		all.Records = append(all.Records, int32(i))
	}
	all.sort()
	s.limit(all)
	if len(all.Jobs) == 0 {
		return nil, fmt.Errorf("%s: none of %d jobs can be replayed: %s", log.Name, len(log.Records), all.LeftOut)
	}
	s.setArrivals(all)
	return all, nil
}

// processors returns the size of the machine.
func (s Selection) processors(log *swf.Log) (int, error) {
	n := s.Machine
	if n <= 0 {
		var err error
		if n, err = log.Header.MachineSize(); err != nil {
			return 0, fmt.Errorf("%s: %w", log.Name, err)
		}
	}
	switch {
	case n == 0:
		return 0, fmt.Errorf("%s: %w", log.Name, ErrNoMachine)
	case n > MaxNodes:
		return 0, fmt.Errorf("%s: a machine of %d processors; at most %d are replayed, give --nodes", log.Name, n, MaxNodes)
	}
	return n, nil
}

// unusable returns whether a record must be left out of the replay, and why.
func (s Selection) unusable(r *swf.Record, processors int, runOnly bool) (why Reason, out bool) {
	switch {
	case r.Submit < 0:
		return NoSubmit, true
	case r.Run <= 0:
		return NoRun, true
	case r.Size() <= 0:
		return NoProcessors, true
	case int(r.RequestedProcessors) > processors || int(r.Processors) > processors:
		return TooLarge, true
	case r.RequestedTime <= 0 && !runOnly:
		return NoRequest, true
	case max(r.Submit, r.Run, r.RequestedTime) > MaxTime:
		return TooLong, true
	case !s.Window.contains(r.Submit):
		return OutsideWindow, true
	}
	return 0, false
}

// job returns a usable record as a job.
func (s Selection) job(r *swf.Record, runOnly bool, perNode int) Job {
	request := r.RequestedTime
	if runOnly {
		request = r.Run
	}
	run := min(r.Run, request)
	return Job{
		Number: r.Number, Submit: r.Submit, Run: run, Request: s.Estimates.request(run, request),
		Size: inNodes(int(r.Size()), perNode), User: r.User, Cut: r.Run > request,
	}
}

// evolve gives a job the profile of the log. The total of the profile becomes the job's requested time: the last step is cut or lengthened.
func (s Selection) evolve(j *Job, ep core.EP, perNode int) {
	var choice core.EP
	for _, step := range ep {
		choice = appendStep(choice, core.Step{Duration: step.Duration, Nodes: inNodes(step.Nodes, perNode)})
	}
	choice = withTotal(choice, j.Request)
	j.Size = choice.Peak()
	if len(choice) > 1 {
		j.Choices = []core.EP{choice}
	}
}

// inNodes returns how many nodes have this many processors.
func inNodes(processors, perNode int) int { return (processors + perNode - 1) / perNode }

// sort sorts the jobs by submission, and then as in the log.
func (s *Selected) sort() {
	if s.inOrder() {
		return // most logs are sorted
	}
	type pair struct {
		job    Job
		record int32
	}
	pairs := make([]pair, len(s.Jobs))
	for i := range pairs {
		pairs[i] = pair{s.Jobs[i], s.Records[i]}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.job.Submit, b.job.Submit), cmp.Compare(a.record, b.record))
	})
	for i, p := range pairs {
		s.Jobs[i], s.Records[i] = p.job, p.record
	}
}

func (s *Selected) inOrder() bool {
	for i := 1; i < len(s.Jobs); i++ {
		a, b := s.Jobs[i-1].Submit, s.Jobs[i].Submit
		if a > b || a == b && s.Records[i-1] > s.Records[i] {
			return false
		}
	}
	return true
}

// limit removes all but the first jobs.
func (s Selection) limit(all *Selected) {
	if s.Limit > 0 && len(all.Jobs) > s.Limit {
		all.LeftOut[BeyondLimit] = len(all.Jobs) - s.Limit
		all.Jobs, all.Records = slices.Clip(all.Jobs[:s.Limit]), slices.Clip(all.Records[:s.Limit])
	}
}

// setArrivals changes the submission times by ScaleLoad or ArrivalRate. The submission time of the first job stays.
func (s Selection) setArrivals(all *Selected) {
	first := all.Jobs[0].Submit
	for i := range all.Jobs {
		switch j := &all.Jobs[i]; {
		case s.ArrivalRate > 0:
			j.Submit = first + s.ArrivalRate.Divide(int64(i))
		case s.ScaleLoad > 0:
			j.Submit = first + s.ScaleLoad.Divide(j.Submit-first)
		}
	}
	if s.ScaleLoad > 0 && s.ArrivalRate == 0 {
		all.sort() // jobs that now arrive in the same second are sorted as in the log
	}
}
