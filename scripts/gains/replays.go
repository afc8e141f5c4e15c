package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"accordion/core/policy"
	"accordion/core/queue"
	"accordion/traces/paper/parallel"
	"accordion/traces/replay"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// log is a log and what of it is replayed.
type log struct {
	name, file string
	workload.Selection
	large bool // under slow it would take hours: it is not replayed
}

// logs have a queue. LLNL-Atlas has none at its own load.
var logs = []log{
	{"KTH-SP2", "KTH-SP2-1996-2.1-cln.swf.gz", workload.Selection{ProcsPerNode: 1}, false},
	{"SDSC-SP2", "SDSC-SP2-1998-4.2-cln.swf.gz", workload.Selection{ProcsPerNode: 1}, false},
	{"CTC-SP2", "CTC-SP2-1996-3.1-cln.swf.gz", workload.Selection{ProcsPerNode: 1}, false},
	{"HPC2N", "HPC2N-2002-2.2-cln.swf.gz", workload.Selection{ProcsPerNode: 2}, true},
	{"Ross", "Sandia-Ross-2001-1.1-cln.swf.gz", workload.Selection{ProcsPerNode: 1}, false},
	{"lublin_256", "lublin_256.swf.gz", workload.Selection{ProcsPerNode: 1}, false},
	{"Atlas ×1.25", "LLNL-Atlas-2006-2.1-cln.swf.gz", workload.Selection{ProcsPerNode: 8, ScaleLoad: 1_250_000}, true},
	{"Atlas ×1.5", "LLNL-Atlas-2006-2.1-cln.swf.gz", workload.Selection{ProcsPerNode: 8, ScaleLoad: 1_500_000}, true},
	{"Curie", "CEA-Curie-2011-2.1-cln.swf.gz", workload.Selection{ProcsPerNode: 1}, true},
}

// policies are compared with the first.
var policies = []string{"easy", "conservative", "repeated", "evolving:noX", "easy-evolving", "patient"}

// slow takes nine tenths of all time. It sees the peaks of jobs only, as EASY does: one drawing tells as much.
const slow = "conservative"

// shares are how many per cent of the jobs evolve.
var shares = []int{0, 10, 30, 100}

// result is one workload under each policy.
type result struct {
	Log     string           `json:"log"`
	Share   int              `json:"share"`
	Shape   workload.Shape   `json:"shape"`
	Same    workload.Same    `json:"same"`
	Seed    uint64           `json:"seed"`
	Metrics []replay.Metrics `json:"metrics"` // beside policies; of one that was left out there are no jobs
}

// replays are those of one log.
func replays(ctx context.Context, l log, records *swf.Log, seeds int) ([]result, error) {
	selected, err := l.Select(records)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.name, err)
	}
	all := cases(l.name, seeds)
	began := time.Now()
	err = parallel.Do(ctx, len(all)*len(policies), nil, func(i int) error {
		r := &all[i/len(policies)]
		if policies[i%len(policies)] == slow && (l.large || r.Seed > 1) {
			return nil
		}
		p, err := policy.Named(policies[i%len(policies)], queue.FirstCome)
		if err != nil {
			return err
		}
		w := selected.Workload
		w.Jobs = slices.Clone(w.Jobs)
		workload.WhatIf{Evolving: float64(r.Share) / 100, Shape: r.Shape, Same: r.Same, Seed: r.Seed}.Apply(&w)
		r.Metrics[i%len(policies)] = replay.Measure(w, replay.Run(w, p))
		return nil
	})
	fmt.Fprintf(os.Stderr, "%s: %d replays of %d jobs, %v\n", l.name, len(all)*len(policies), len(selected.Jobs), time.Since(began).Round(time.Second))
	return all, err
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
