package workload

import (
	"math"

	"accordion/core"
)

// Curve says how fast a job that becomes moldable is on other sizes than the log's.
type Curve uint8

// The curves.
const (
	Table1    Curve = iota // of RR-7389: Amdahl's law, four kinds of jobs
	Piecewise              // of SCOJO-P: efficiencies of .8, .65, .4 on half the log's size, on that, on twice that
	Downey                 // of Cirne and Berman: any average parallelism, whatever the log's size
	curves
)

var curveNames = [curves]string{Table1: "table1", Piecewise: "piecewise", Downey: "downey"}

// CurveNames are the names of all curves.
func CurveNames() []string { return curveNames[:] }

// String is the curve's name.
func (c Curve) String() string { return curveNames[c] }

// ParseCurve reads a name of CurveNames.
func ParseCurve(text string) (Curve, error) {
	at, err := named("curve", text, curveNames[:])
	return Curve(at), err
}

// Offer says which sizes of its curve a moldable job lists.
type Offer uint8

// What is offered.
const (
	Usual  Offer = iota // Powers of Table1, All of the other curves
	All                 // every size: at most 128, evenly apart
	Three               // the least, the log's, the largest
	Powers              // powers of two, and the log's
	offers
)

var offerNames = [offers]string{All: "all", Three: "three", Powers: "powers"}

// OfferNames are the names of all offers but the usual one, which has none.
func OfferNames() []string { return offerNames[All:] }

// ParseOffer reads a name of OfferNames.
func ParseOffer(text string) (Offer, error) {
	at, err := named("offer", text, OfferNames())
	return All + Offer(at), err
}

// of is what is offered of a curve.
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
	least, most int // nodes: on others it does not run, but for the log's size
	// lasts is how long it takes on so many nodes what takes so long on the log's size; asks is what it asks for where it
	// runs so long on so many nodes.
	lasts  func(time core.Time, nodes int) core.Time
	asks   func(run core.Time, nodes int) core.Time
	faster bool // a size that is no faster than a smaller one is not listed
}

// law is that of a job of the log.
func (c Curve) law(j *Job, machine int, d *draw) law {
	switch c {
	case Piecewise:
		return piecewise(j, machine)
	case Downey:
		return downey(j, machine, d)
	}
	return table1Law(j, machine, d)
}

// table1 are the kinds of moldable jobs of RR-7389, Table 1, each as frequent as the others: which part of the work is done in
// parallel, in thousandths, and how many nodes such a job takes at most. The least is 1.
var table1 = [4]struct {
	parallel int64
	most     int
}{{800, 32}, {900, 96}, {990, 256}, {999, 650}}

// table1Law is Amdahl's law through the size and the run time of the log. What a job asks for, it asks for on each size in the
// same proportion to its run time.
func table1Law(j *Job, machine int, d *draw) law {
	kind := table1[d.below(len(table1))]
	return law{
		least: 1, most: min(kind.most, machine), faster: true,
		lasts: func(time core.Time, n int) core.Time { return amdahl(kind.parallel, time, int64(j.Size), int64(n)) },
		asks: func(run core.Time, _ int) core.Time {
			return min(max(MulDiv(min(run, MaxTime), j.Request, j.Run), run), MaxTime)
		},
	}
}

// piecewise is the speed-up of SCOJO-P (Barsanti and Sodan, "Adaptive Job Scheduling via Predictive Job Resource Allocation",
// JSSPP 2006, Table 1): with N the log's size .4·N on N/2 nodes, .65·N on N, .8·N on 2·N, linear between, that is .15·N + .5·n up
// to N and .5·N + .15·n beyond.
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

// downey is the model of Cirne and Berman ("A Model for Moldable Supercomputer Jobs", IPDPS 2001) on Downey's speed-up
// ("A Model for Speedup of Parallel Programs", CSD-97-933, 1997): whatever the log's size, an average parallelism A between 16 and 118,
// uniform in its logarithm, and a σ from a normal distribution of mean 1.209 and deviation 1.132, drawn again below 0. The bounds of A
// are not printed: these give 128 nodes the mean best size that Barsanti and Sodan print, 69. The curve goes through the
// size and the run time of the log, and ends where more nodes give no more speed.
func downey(j *Job, machine int, d *draw) law {
	const low, high = 16.0, 118.0
	s := speedUp{a: low * math.Pow(high/low, d.Share()), sigma: -1}
	for s.sigma < 0 {
		s.sigma = 1.209 + 1.132*d.Normal()
	}
	lasts := func(time core.Time, n int) core.Time {
		const noise = 1e-12 // of the division: a whole second is not two
		seconds := float64(time) * (s.on(float64(j.Size)) / s.on(float64(n)))
		return core.Time(math.Ceil(seconds * (1 - noise)))
	}
	return law{least: 1, most: min(int(math.Ceil(s.end())), machine), lasts: lasts, asks: func(_ core.Time, n int) core.Time { return lasts(j.Request, n) }}
}

// speedUp is Downey's: the average parallelism, and how much the parallelism varies.
type speedUp struct{ a, sigma float64 }

// on is the speed-up on n nodes.
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

// end is from how many nodes on the speed-up is A.
func (s speedUp) end() float64 {
	switch {
	case s.sigma == 0:
		return s.a
	case s.sigma <= 1:
		return 2*s.a - 1
	}
	return s.a + s.a*s.sigma - s.sigma
}

// amdahl is how long a job runs on m nodes that runs so long on n, when so many thousandths of it are parallel: d(m) =
// (1 − P + P/m)·d(1), with d(1) from d(n), in whole seconds rounded up. It saturates far above MaxTime.
func amdahl(parallel int64, run core.Time, n, m int64) core.Time {
	const all = 1000
	// run · n·((all−P)·m + P) / (m·((all−P)·n + P)): n and m are at most MaxNodes, so each factor stays below 2⁶³.
	return max(mulDivUp(run, n*((all-parallel)*m+parallel), m*((all-parallel)*n+parallel)), 1)
}
