package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/traces/paper"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// log is a workload log, with the part of it that is replayed.
type log struct {
	name, file string
	workload.Selection
	tooSlow []string // policies that are left out because they would take hours
}

// logs lists logs whose jobs wait. At its own load LLNL-Atlas has no waiting jobs. LLNL-Thunder and NASA-iPSC are
// not listed, because almost none of their jobs wait.
var logs = []log{
	{"KTH-SP2", "KTH-SP2-1996-2.1-cln.swf.gz", workload.Selection{ProcsPerNode: 1}, nil},
	{"SDSC-SP2", "SDSC-SP2-1998-4.2-cln.swf.gz", workload.Selection{ProcsPerNode: 1}, nil},
	{"CTC-SP2", "CTC-SP2-1996-3.1-cln.swf.gz", workload.Selection{ProcsPerNode: 1}, nil},
	{"HPC2N", "HPC2N-2002-2.2-cln.swf.gz", workload.Selection{ProcsPerNode: 2}, nil},
	{"Ross", "Sandia-Ross-2001-1.1-cln.swf.gz", workload.Selection{ProcsPerNode: 1}, nil},
	{"lublin_256", "lublin_256.swf.gz", workload.Selection{ProcsPerNode: 1}, nil},
	{"Atlas ×1.25", "LLNL-Atlas-2006-2.1-cln.swf.gz", workload.Selection{ProcsPerNode: 8, ScaleLoad: 1_250_000}, nil},
	{"Atlas ×1.5", "LLNL-Atlas-2006-2.1-cln.swf.gz", workload.Selection{ProcsPerNode: 8, ScaleLoad: 1_500_000}, nil},
	{"Curie", "CEA-Curie-2011-2.1-cln.swf.gz", workload.Selection{ProcsPerNode: 1}, []string{"conservative", "repeated", "evolving:noX"}},
}

// leavesOut reports whether the log is left out under a policy.
func (l log) leavesOut(policyName string) bool { return slices.Contains(l.tooSlow, policyName) }

// policies lists the policies. All are compared with the first.
var policies = []string{"easy", "conservative", "repeated", "evolving:noX", "easy-evolving", "patient"}

// replayOrder lists the indexes of policies in the order of the replays. The most important policies come first.
var replayOrder = []int{0, 5, 4, 3, 2, 1}

// slow is a policy that uses only the peaks of jobs, as EASY does. It is compared, but not recommended.
const slow = "conservative"

// drawnOnce lists slow policies. For them the evolving jobs are drawn with only one seed.
var drawnOnce = []string{slow, "repeated"}

// draws reports whether logs are replayed under a policy with the evolving jobs of a seed.
func draws(policyName string, seed uint64) bool {
	return seed <= 1 || !slices.Contains(drawnOnce, policyName)
}

// shares lists the percentages of evolving jobs.
var shares = []int{0, 10, 30, 100}

// workloads is a log with its jobs, and with the range of indexes of its results.
type workloads struct {
	log
	jobs     workload.Workload
	from, to int
}

// result holds the results of one workload under each policy.
type result struct {
	Log     string
	Share   int
	Shape   workload.Shape
	Same    workload.Same
	Seed    uint64
	Metrics []replay.Metrics // one for each policy; without jobs if the policy was left out
}

// replays returns the metrics of one log under one policy, one for each case. They have no jobs if the policy was
// left out.
func replays(ctx context.Context, l workloads, policyName string, all []result) ([]replay.Metrics, error) {
	metrics := make([]replay.Metrics, len(all))
	began, replayed := time.Now(), 0
	err := paper.Each(ctx, len(all), nil, func(i int) error {
		r := &all[i]
		if l.leavesOut(policyName) || !draws(policyName, r.Seed) {
			return nil
		}
		p, err := policy.Named(policyName, sched.FirstCome)
		if err != nil {
			return err
		}
		w := l.jobs
		w.Jobs = slices.Clone(w.Jobs)
		workload.WhatIf{Evolving: float64(r.Share) / 100, Shape: r.Shape, Same: r.Same, Seed: r.Seed}.Apply(&w)
		metrics[i] = replay.Measure(w, replay.Run(w, p))
		return nil
	})
	for i := range metrics {
		replayed += min(metrics[i].Jobs, 1)
	}
	fmt.Fprintf(os.Stderr, "%s, %s: %d replays of %d jobs, %v\n", l.name, policyName, replayed, len(l.jobs.Jobs), time.Since(began).Round(time.Second))
	return metrics, err
}

// cases returns the workloads of a log. With a share of 0 there is only one workload. With a share of 30 %, as in
// the headline, both shapes are used.
func cases(name string, seeds int) (all []result) {
	for _, share := range shares {
		for _, shape := range []workload.Shape{workload.Mountain, workload.RampUp} {
			for _, same := range []workload.Same{workload.SamePeak, workload.SameArea} {
				for seed := range uint64(seeds) {
					first := same == workload.SamePeak && seed == 0
					if share > 0 && (shape == workload.Mountain || share == 30) || share == 0 && shape == workload.Mountain && first {
						all = append(all, result{name, share, shape, same, seed + 1, make([]replay.Metrics, len(policies))})
					}
				}
			}
		}
	}
	return all
}
