package adaptive

import (
	"fmt"
	"slices"

	"accordion/core"
	"accordion/core/sizing"
	"accordion/traces/model"
	"accordion/traces/workload"
)

// The machine and the length of every workload (Table 1 of the paper).
const (
	nodes    = 128
	jobsEach = 10_000
)

// setting is a workload without its seed.
type setting struct {
	load     string // W1 or W2
	moldable int    // percentage of the jobs
	curve    workload.Curve
	floor    bool // medium and long jobs list no sizes below the largest size with an efficiency of at least 90 %
}

// The settings of the paper. Which jobs are moldable depends on the job's number and the seed, so that it is the same for every load.
var (
	w1     = setting{load: "W1", moldable: 100, curve: workload.Piecewise}
	w2     = setting{load: "W2", moldable: 100, curve: workload.Piecewise}
	w1Some = setting{load: "W1", moldable: 80, curve: workload.Piecewise}
	w2Some = setting{load: "W2", moldable: 80, curve: workload.Piecewise}
	downey = setting{load: "W1", moldable: 100, curve: workload.Downey}
	floors = setting{load: "W1", moldable: 100, curve: workload.Downey, floor: true}
)

// alpha returns the parameter of the gaps between submissions.
func (s setting) alpha() float64 {
	if s.load == "W2" {
		return 9.83
	}
	return 10.23
}

// plain returns the workload with this many jobs, before jobs become moldable.
func (s setting) plain(jobs int, seed uint64) (workload.Workload, error) {
	log := model.Lublin{Jobs: jobs, Nodes: nodes, Alpha: s.alpha(), Seed: seed}.Log()
	selected, err := workload.Selection{}.Select(log)
	if err != nil {
		return workload.Workload{}, fmt.Errorf("make %s with seed %d: %w", s.load, seed, err)
	}
	return selected.Workload, nil
}

// mold returns a copy in which jobs are moldable.
func (s setting) mold(w workload.Workload, seed uint64) workload.Workload {
	w.Jobs = slices.Clone(w.Jobs)
	workload.WhatIf{Moldable: float64(s.moldable) / 100, Curve: s.curve, Seed: seed}.Apply(&w)
	if s.floor {
		for i := range w.Jobs {
			efficient(&w.Jobs[i])
		}
	}
	return w
}

// efficient removes sizes of a medium or long job that are smaller than the largest one with an efficiency of .9 (section 5.4: "we set the
// minimum to the point where E >= 0.9").
func efficient(j *workload.Job) {
	const enough = 0.9
	s := sizing.New(core.Job{Choices: j.Choices}, sizing.AsListed)
	if s == nil || s.Class() == sizing.Short || j.Choices[0].Peak() != 1 {
		return
	}
	alone, least := float64(j.Runs[0]), 0
	for i := range j.Runs {
		if alone >= enough*float64(j.Runs[i])*float64(j.Choices[i].Peak()) {
			least = i
		}
	}
	j.Choices, j.Runs = j.Choices[least:], j.Runs[least:]
}

// others is the number of other seeds whose workloads are counted for statistics of arrivals.
const others = 5

// statistics returns the mean statistics over workloads with other seeds, which are not run.
func (s setting) statistics(jobs int, seed uint64) (*sizing.Statistics, error) {
	var mean sizing.Statistics
	for k := range uint64(others) {
		other := seed + (k+1)<<32
		w, err := s.plain(jobs, other)
		if err != nil {
			return nil, err
		}
		w = s.mold(w, other)
		file, err := w.Arrivals(0)
		if err != nil {
			return nil, fmt.Errorf("count arrivals of %s with seed %d: %w", s.load, other, err)
		}
		for c := range sizing.Classes {
			mean.Nodes[c] += file.Nodes[c] / others
			mean.Seconds[c] += file.Seconds[c] / others
			for h := range sizing.HalfHours {
				mean.Arrivals[h][c] += file.Arrivals[h][c] / others
			}
		}
	}
	return &mean, nil
}

// String returns the name of the workload.
func (s setting) String() string {
	switch {
	case s.floor:
		return s.load + ", Downey, E ≥ .9"
	case s.curve == workload.Downey:
		return s.load + ", Downey"
	}
	return s.load
}
