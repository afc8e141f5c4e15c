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

// log is a log and what of it is replayed.
type log struct {
	name, file string
	workload.Selection
	tooSlow []string // policies under which it would take hours: it is not replayed under these
}

// logs have a queue. LLNL-Atlas has none at its own load; on LLNL-Thunder nobody waits, and on NASA-iPSC hardly anybody.
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

// leaves says whether the log is left out under a policy.
func (l log) leaves(policyName string) bool { return slices.Contains(l.tooSlow, policyName) }

// policies are compared with the first.
var policies = []string{"easy", "conservative", "repeated", "evolving:noX", "easy-evolving", "patient"}

// inTurn are the places of policies in the order in which they are replayed: what everything is judged by first.
var inTurn = []int{0, 5, 4, 3, 2, 1}

// slow sees only the peaks of jobs, as EASY does. It is compared with the others, and is nobody's choice.
const slow = "conservative"

// drawnOnce are the policies that take long: the evolving jobs are drawn once for them.
var drawnOnce = []string{slow, "repeated"}

// draws reports whether a log is replayed under a policy with the evolving jobs of a seed.
func draws(policyName string, seed uint64) bool {
	return seed <= 1 || !slices.Contains(drawnOnce, policyName)
}

// shares are how many per cent of the jobs evolve.
var shares = []int{0, 10, 30, 100}

// workloads are a log that was read, and which of all results are its.
type workloads struct {
	log
	jobs     workload.Workload
	from, to int
}

// result is one workload under each policy.
type result struct {
	Log     string
	Share   int
	Shape   workload.Shape
	Same    workload.Same
	Seed    uint64
	Metrics []replay.Metrics // beside policies; of one that was left out there are no jobs
}

// replays are those of one log under one policy, beside its cases; of one that was left out there are no jobs.
func replays(ctx context.Context, l workloads, policyName string, all []result) ([]replay.Metrics, error) {
	metrics := make([]replay.Metrics, len(all))
	began, replayed := time.Now(), 0
	err := paper.Each(ctx, len(all), nil, func(i int) error {
		r := &all[i]
		if l.leaves(policyName) || !draws(policyName, r.Seed) {
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

// cases are the workloads of a log. Where nobody evolves there is one; at 30 %, the share that everything is judged by, jobs have either shape.
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
