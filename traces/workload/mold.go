package workload

import (
	"math/bits"

	"accordion/core"
)

// table1 are the kinds of moldable jobs of RR-7389, Table 1, each as frequent as the others: which part of the work is done in
// parallel, in thousandths, and how many nodes such a job takes at most. The least is 1.
var table1 = [4]struct{ parallel, most int64 }{{800, 32}, {900, 96}, {990, 256}, {999, 650}}

// moldable makes a rigid job moldable, with parameters of Table 1: it takes 1 to that many nodes and follows Amdahl's law
// through the size and the run time of the log. Of these sizes the powers of two are its choices, and the log's own; one that
// is no faster than a smaller one is left out. What a job asks for, it asks for in each size in the same proportion to its run
// time. False: there is no other size than the log's.
func moldable(j *Job, machine int, d *draw) bool {
	kind := table1[d.below(len(table1))]
	most := min(kind.most, int64(machine))
	var (
		choices []core.EP
		runs    []core.Time
	)
	offer := func(n int64) {
		run := amdahl(kind.parallel, j.Run, int64(j.Size), n)
		if run > MaxTime || len(runs) > 0 && run >= runs[len(runs)-1] {
			return
		}
		request := min(max(MulDiv(run, j.Request, j.Run), run), MaxTime)
		choices = append(choices, core.EP{{Duration: request, Nodes: int(n)}})
		runs = append(runs, run)
	}
	own := int64(j.Size)
	for n := int64(1); n <= max(most, own); n *= 2 {
		if n <= most && n != own {
			offer(n)
		}
		if n <= own && own < 2*n {
			offer(own)
		}
	}
	if len(choices) < 2 {
		return false
	}
	j.Choices, j.Runs = choices, runs
	return true
}

// amdahl is how long a job runs on m nodes that runs so long on n, when so many thousandths of it are parallel: d(m) =
// (1 − P + P/m)·d(1), with d(1) from d(n), in whole seconds rounded up. It saturates far above MaxTime.
func amdahl(parallel int64, run core.Time, n, m int64) core.Time {
	const all = 1000
	// run · n·((all−P)·m + P) / (m·((all−P)·n + P)): n and m are at most MaxNodes, so each side stays below 2⁶⁴.
	over := uint64(m) * uint64((all-parallel)*n+parallel)
	high, low := bits.Mul64(uint64(run), uint64(n)*uint64((all-parallel)*m+parallel))
	low, carry := bits.Add64(low, over-1, 0)
	if high += carry; high >= over {
		return core.Forever
	}
	quotient, _ := bits.Div64(high, low, over)
	return core.Time(max(min(quotient, uint64(core.Forever)), 1))
}
