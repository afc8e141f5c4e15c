package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/traces/model"
	"accordion/traces/replay"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// A measure is a workload and the policies whose speed on it is measured.
type measure struct {
	name     string  // name in the output
	file     string  // file of the log; "" for a generated one
	alpha    float64 // parameter of a log of Lublin and Feitelson; 0 means the log of the benchmarks
	chosen   workload.Selection
	whatIf   *workload.WhatIf
	policies []string
}

var (
	both     = []string{"easy", "conservative"}
	evolving = []string{"evolving:rigid", "evolving:noX", "evolving:2X", "evolving:2X+c", "evolving:infX", "evolving:infX+c"}
)

// W1 and W2 are the workloads of the paper on SCOJO-P. All jobs are moldable, with the speed-up curve of that paper.
var (
	sized       = []string{"traditional", "share", "scojo-p", "cirne-berman", "cirne-berman:opt"}
	allMoldable = &workload.WhatIf{Moldable: 1, Curve: workload.Piecewise, Seed: 1}
)

// EASY for evolving jobs must replay, with 30 % evolving jobs, 500,000 jobs a second, or 10,000 on an overloaded machine. Without evolving
// jobs it must replay at least half as many jobs a second as easy.
var (
	ours      = []string{"easy", "easy-evolving", "patient"}
	mountains = &workload.WhatIf{Evolving: 0.3, Shape: workload.Mountain, Seed: 1}
)

// The policy malleable may take at most 60 s for Curie.
var thirtyMalleable = &workload.WhatIf{Malleable: usualShare(.3), Seed: 1}

func usualShare(share float64) workload.MalleableJobs {
	m := workload.UsualMalleable
	m.Share = share
	return m
}

// measures are the measurements with bounds.
var measures = []measure{
	{name: "KTH", file: "KTH-SP2-1996-2.1-cln", policies: both},
	{name: "KTH-unfiltered", file: "KTH-SP2-1996-unfiltered", policies: both[:1]}, // the log with the published schedule
	{name: "CTC", file: "CTC-SP2-1996-3.1-cln", policies: both},
	{name: "generated", policies: both},
	{name: "Curie", file: "CEA-Curie-2011-2.1-cln", chosen: workload.Selection{Machine: 80640}, policies: both[:1]},
	{name: "Atlas*1.5", file: "LLNL-Atlas-2006-2.1-cln", chosen: workload.Selection{ScaleLoad: 1_500_000}, policies: both},
	{name: "Atlas*1.25+30%", file: "LLNL-Atlas-2006-2.1-cln", chosen: workload.Selection{ScaleLoad: 1_250_000},
		whatIf: mountains, policies: evolving},
	{name: "KTH", file: "KTH-SP2-1996-2.1-cln", policies: ours},
	{name: "CTC", file: "CTC-SP2-1996-3.1-cln", policies: ours},
	{name: "KTH+30%", file: "KTH-SP2-1996-2.1-cln", whatIf: mountains, policies: ours},
	{name: "CTC+30%", file: "CTC-SP2-1996-3.1-cln", whatIf: mountains, policies: ours},
	{name: "SDSC+30%", file: "SDSC-SP2-1998-4.2-cln", whatIf: mountains, policies: ours},
	{name: "Atlas*1.5+30%", file: "LLNL-Atlas-2006-2.1-cln", chosen: workload.Selection{ScaleLoad: 1_500_000}, whatIf: mountains, policies: ours},
	{name: "KTH+30% malleable", file: "KTH-SP2-1996-2.1-cln", whatIf: thirtyMalleable, policies: []string{"malleable"}},
	{name: "Curie+30% malleable", file: "CEA-Curie-2011-2.1-cln", chosen: workload.Selection{ProcsPerNode: 16}, whatIf: thirtyMalleable, policies: []string{"malleable"}},
	{name: "W1", alpha: 10.23, whatIf: allMoldable, policies: sized},
	{name: "W2", alpha: 9.83, whatIf: allMoldable, policies: sized},
	{name: "SDSC+moldable", file: "SDSC-SP2-1998-4.2-cln", whatIf: allMoldable, policies: []string{"easy+share", "repeated+share", "share", "scojo-p"}},
}

// workload reads and selects the jobs.
func (m *measure) workload() (workload.Workload, error) {
	log := model.Generated(10_000, model.GeneratedSeed)
	if m.alpha > 0 {
		log = model.Lublin{Nodes: 128, Alpha: m.alpha, Jobs: 10_000, Seed: 1}.Log()
	}
	if m.file != "" {
		var err error
		folder, err := swf.Folder()
		if err != nil {
			return workload.Workload{}, err
		}
		if log, err = swf.ReadFile(filepath.Join(folder, m.file+".swf.gz"), swf.Options{}); err != nil {
			return workload.Workload{}, err
		}
	}
	s, err := m.chosen.Select(log)
	if err != nil {
		return workload.Workload{}, err
	}
	if m.whatIf != nil {
		m.whatIf.Apply(&s.Workload)
	}
	return s.Workload, nil
}

// measureReplays measures each replay whose log and policy contain the text, and prints a line for each. scripts/bench shows these lines. It
// returns the exit status of the process.
func measureReplays(which string) (status int) {
	for _, m := range measures {
		var w workload.Workload
		for _, name := range m.policies {
			if which != "all" && !strings.Contains(m.name+"/"+name, which) {
				continue
			}
			if w.Jobs == nil {
				var err error
				if w, err = m.workload(); err != nil {
					fmt.Fprintf(os.Stderr, "replay log=%s: %v; ACCORDION_TRACES is the directory of the logs\n", m.name, err)
					status = 1
					break
				}
			}
			fmt.Println(measureReplay(m.name, w, name))
		}
	}
	return status
}

// measureReplay returns the line of one replay: the fastest of some runs in processor time, because other work on the machine can only slow
// it down.
func measureReplay(log string, w workload.Workload, name string) string {
	const (
		turns  = 30
		enough = 3 * time.Second // for all of them
	)
	p, err := policy.Named(name, sched.FirstCome)
	if err != nil {
		panic(err) // it is one of our policies
	}
	var r replay.Result
	best, begin := time.Hour, processorTime()
	for turn := 0; turn < turns && (turn == 0 || processorTime()-begin < enough); turn++ {
		best = min(best, timed(func() { r = replay.Run(w, p) }))
	}
	return fmt.Sprintf("replay log=%s policy=%s jobs=%d jobs_per_s=%.0f mean_wait=%.4f hash=%016x", log, name, len(w.Jobs),
		float64(len(w.Jobs))/best.Seconds(), meanWait(w, r), hash(r))
}

// timed returns the processor time of a function. It repeats a short function until the sum is a tenth of a second.
func timed(do func()) time.Duration {
	begin, times, took := processorTime(), 0, time.Duration(0)
	for times == 0 || took < 100*time.Millisecond {
		do()
		times++
		took = processorTime() - begin
	}
	return took / time.Duration(times)
}

// processorTime returns the processor time of this process on all cores.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // the arguments are right
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
