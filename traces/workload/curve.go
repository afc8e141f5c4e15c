package workload

import (
	"math"

	"accordion/core"
)

// Curve is a speed-up model: how fast a moldable job runs on sizes other than the log's.
type Curve uint8

// The curves.
const (
	Table1    Curve = iota // RR-7389, Table 1: Amdahl's law with four kinds of jobs
	Piecewise              // the curve of SCOJO-P: efficiencies .8, .65 and .4 on half, once and twice the log's size
	Downey                 // the model of Cirne and Berman: average parallelism independent of the log's size
	curves
)

var curveNames = [curves]string{Table1: "table1", Piecewise: "piecewise", Downey: "downey"}

// CurveNames returns the names of all curves.
func CurveNames() []string { return curveNames[:] }

// String returns the curve's name.
func (c Curve) String() string { return curveNames[c] }

// ParseCurve parses a name of CurveNames.
func ParseCurve(text string) (Curve, error) {
	at, err := named("curve", text, curveNames[:])
	return Curve(at), err
}

// Offer determines which sizes of its curve a moldable job lists.
type Offer uint8

// The offers.
const (
	Usual  Offer = iota // Powers for Table1, All for the other curves
	All                 // every size, or 128 at equal distances
	Three               // the smallest, the log's and the largest
	Powers              // powers of two, and the log's size
	offers
)

var offerNames = [offers]string{All: "all", Three: "three", Powers: "powers"}

// OfferNames returns the names of all offers except Usual, which has no name.
func OfferNames() []string { return offerNames[All:] }

// ParseOffer parses a name of OfferNames.
func ParseOffer(text string) (Offer, error) {
	at, err := named("offer", text, OfferNames())
	return All + Offer(at), err
}

// of returns the offer for a curve: it replaces Usual.
func (o Offer) of(c Curve) Offer {
	switch {
	case o != Usual:
		return o
	case c == Table1:
		return Powers
	}
	return All
}

// law is how one job scales.
type law struct {
	least, most int // range of sizes on which the job can run; the log's size is always possible
	// lasts returns the run time on `nodes` nodes, for a job that runs for `time` seconds on the log's size.
	// asks returns the requested time on `nodes` nodes, if the run time on these nodes is `run`.
	lasts  func(time core.Time, nodes int) core.Time
	asks   func(run core.Time, nodes int) core.Time
	faster bool // sizes that are not faster than a smaller size are not listed
}

// law returns how a job of the log scales.
func (c Curve) law(j *Job, machine int, d *stream) law {
	switch c {
	case Piecewise:
		return piecewise(j, machine)
	case Downey:
		return downey(j, machine, d)
	}
	return table1Law(j, machine, d)
}

// table1 has the kinds of moldable jobs of RR-7389, Table 1, which are equally frequent: the parallel part of the work in thousandths, and
// the maximum number of nodes. The minimum is 1.
var table1 = [4]struct {
	parallel int64
	most     int
}{{800, 32}, {900, 96}, {990, 256}, {999, 650}}

// table1Law returns Amdahl's law through the log's size and run time. On each size, the requested time is in the same proportion to the run
// time.
func table1Law(j *Job, machine int, d *stream) law {
	kind := table1[d.below(len(table1))]
	return law{
		least: 1, most: min(kind.most, machine), faster: true,
		lasts: func(time core.Time, n int) core.Time { return amdahl(kind.parallel, time, int64(j.Size), int64(n)) },
		asks: func(run core.Time, _ int) core.Time {
			return min(max(MulDiv(min(run, MaxTime), j.Request, j.Run), run), MaxTime)
		},
	}
}

// piecewise returns the speed-up of SCOJO-P (Barsanti and Sodan, "Adaptive Job Scheduling via Predictive Job Resource Allocation", JSSPP
// 2006, Table 1). With the log's size N it is .4·N on N/2 nodes, .65·N on N and .8·N on 2·N, and linear in between: .15·N + .5·n up to N,
// .5·N + .15·n beyond.
func piecewise(j *Job, machine int) law {
	own := int64(j.Size)
	lasts := func(time core.Time, n int) core.Time {
		m := int64(n)
		if m <= own {
			return mulDivUp(time, 13*own, 3*own+10*m)
		}
		return mulDivUp(time, 13*own, 10*own+3*m)
	}
	return law{least: (j.Size + 1) / 2, most: min(2*j.Size, machine), lasts: lasts, asks: func(_ core.Time, n int) core.Time { return lasts(j.Request, n) }}
}

// downey returns the model of Cirne and Berman ("A Model for Moldable Supercomputer Jobs", IPDPS 2001) with Downey's speed-up ("A Model for
// Speedup of Parallel Programs", CSD-97-933, 1997). The average parallelism A is independent of the log's size: between 16 and 118, uniform
// in its logarithm. σ is normal with mean 1.209 and deviation 1.132, drawn again if negative. The bounds of A are not in the paper. They were
// chosen so that the mean best size on 128 nodes is 69, as Barsanti and Sodan give it. The curve goes through the log's size and run time, and
// ends at the size above which more nodes give no more speed.
func downey(j *Job, machine int, d *stream) law {
	const low, high = 16.0, 118.0
	s := speedUp{a: low * math.Pow(high/low, d.Share()), sigma: -1}
	for s.sigma < 0 {
		s.sigma = 1.209 + 1.132*d.Normal()
	}
	lasts := func(time core.Time, n int) core.Time {
		const noise = 1e-12 // rounding error of the division, which must not round 1 s up to 2 s
		seconds := float64(time) * (s.on(float64(j.Size)) / s.on(float64(n)))
		return core.Time(math.Ceil(seconds * (1 - noise)))
	}
	return law{least: 1, most: min(int(math.Ceil(s.end())), machine), lasts: lasts, asks: func(_ core.Time, n int) core.Time { return lasts(j.Request, n) }}
}

// speedUp has the parameters of Downey's speed-up: a is the average parallelism, and sigma is its variance.
type speedUp struct{ a, sigma float64 }

// on returns the speed-up on n nodes.
func (s speedUp) on(n float64) float64 {
	switch a, sigma := s.a, s.sigma; {
	case n >= s.end():
		return a
	case sigma > 1:
		return n * a * (sigma + 1) / (sigma*(n+a-1) + a)
	case n <= a:
		return a * n / (a + sigma*(n-1)/2)
	default:
		return a * n / (sigma*(a-0.5) + n*(1-sigma/2))
	}
}

// end returns the number of nodes from which on the speed-up is A.
func (s speedUp) end() float64 {
	switch {
	case s.sigma == 0:
		return s.a
	case s.sigma <= 1:
		return 2*s.a - 1
	}
	return s.a + s.a*s.sigma - s.sigma
}

// amdahl returns the run time on m nodes of a job that runs for `run` seconds on n nodes. `parallel` is the parallel share P of the work in
// thousandths. The result is d(m) = (1 − P + P/m)·d(1), with d(1) computed from d(n), in whole seconds rounded up. It saturates far above
// MaxTime.
func amdahl(parallel int64, run core.Time, n, m int64) core.Time {
	const all = 1000
	// run · n·((all−P)·m + P) / (m·((all−P)·n + P)): n and m are at most MaxNodes, so that each factor is below 2⁶³.
	return max(mulDivUp(run, n*((all-parallel)*m+parallel), m*((all-parallel)*n+parallel)), 1)
}
