package sizing

import (
	"math"
	"math/bits"
	"slices"

	"accordion/core"
)

// Floor says below which size nothing is chosen for a job.
type Floor uint8

// The floors.
const (
	HalfReference Floor = iota // half of the reference, rounded up
	AsListed                   // the least that it listed: N_min of the paper
)

// Sizes are the listed sizes of a job from which one may be chosen, and its reference. It is read only.
//
// A list that lasts longer with more nodes is used up to its turning point: a size is left out when it lasts longer than one
// with fewer nodes. A size without nodes or time is left out, too. A job with a profile of several steps has one size, the
// peak of its first choice for its total, and nothing is chosen for it here.
type Sizes struct {
	Choices []core.EP   // with more and more nodes, and never a longer duration
	Steps   []core.Step // the same, one step each
	Nodes   int         // N of its reference
	Seconds core.Time   // T of its reference, without its pause
	Several bool        // it has a profile of several steps

	index []int32 // of Choices among the job's; nil: the same from first on
	first int
	ref   int  // of its reference among Steps
	floor int  // of its least size among Steps that is not below its floor
	dense bool // each has one node more than the one before
}

// New looks at what a job listed. It is nil when nothing of that can be run.
func New(j core.Job, f Floor) *Sizes {
	s := new(Sizes)
	if !s.Read(j, f) {
		return nil
	}
	return s
}

// Read is New in the memory of an earlier job.
func (s *Sizes) Read(j core.Job, f Floor) bool {
	*s = Sizes{Steps: s.Steps[:0]}
	if len(j.Choices) == 0 {
		return false
	}
	if slices.ContainsFunc(j.Choices, func(ep core.EP) bool { return len(ep) > 1 }) {
		return s.whole(j.Choices[0], j.Pause)
	}
	if !s.asListed(j.Choices) {
		s.sorted(j.Choices)
	}
	if len(s.Steps) == 0 {
		return false
	}
	s.dense = s.Steps[len(s.Steps)-1].Nodes-s.Steps[0].Nodes == len(s.Steps)-1
	least := squared(s.Steps[0])
	for i := range s.Steps {
		if one := squared(s.Steps[i]); one.less(least) {
			s.ref, least = i, one
		}
	}
	s.Nodes, s.Seconds = s.Steps[s.ref].Nodes, runs(s.Steps[s.ref].Duration, j.Pause)
	if f == HalfReference {
		for s.Steps[s.floor].Nodes < (s.Nodes+1)/2 {
			s.floor++
		}
	}
	return true
}

// At is a job that has one of its sizes, number i, and its reference as before.
func (s *Sizes) At(i int) *Sizes {
	return &Sizes{
		Choices: s.Choices[i : i+1 : i+1], Steps: []core.Step{s.Steps[i]}, Nodes: s.Nodes, Seconds: s.Seconds, Several: s.Several,
		first: s.Choice(i), dense: true,
	}
}

// runs is for how long a job runs of the seconds that it has its nodes.
func runs(has, pause core.Time) core.Time { return max(has-max(pause, 0), min(has, 1)) }

// whole is a job with several steps.
func (s *Sizes) whole(ep core.EP, pause core.Time) bool {
	for _, step := range ep {
		if step.Duration < 1 || step.Nodes < 0 || step.Duration > core.Forever {
			return false
		}
	}
	if len(ep) == 0 {
		return false
	}
	s.Several, s.Nodes, s.Seconds = true, ep.Peak(), runs(ep.Total(), pause)
	s.Choices, s.Steps = []core.EP{ep}, append(s.Steps, core.Step{Duration: ep.Total(), Nodes: s.Nodes})
	return true
}

// usable says whether a choice is so many nodes for so long.
func usable(ep core.EP) bool {
	return len(ep) == 1 && ep[0].Nodes >= 0 && ep[0].Duration >= 1 && ep[0].Duration <= core.Forever
}

// asListed takes the choices as they are, where they are in order and all of use.
func (s *Sizes) asListed(choices []core.EP) bool {
	steps := slices.Grow(s.Steps, len(choices))
	for i, ep := range choices {
		if !usable(ep) || ep[0].Nodes == 0 && len(choices) > 1 || i > 0 && (ep[0].Nodes <= steps[i-1].Nodes || ep[0].Duration > steps[i-1].Duration) {
			return false
		}
		steps = append(steps, ep[0])
	}
	s.Choices, s.Steps = choices, steps
	return true
}

// sorted takes of the choices those that are of use, in order.
func (s *Sizes) sorted(choices []core.EP) {
	for i, ep := range choices {
		if usable(ep) && ep[0].Nodes > 0 {
			s.index = append(s.index, int32(i))
		}
	}
	slices.SortStableFunc(s.index, func(a, b int32) int {
		x, y := choices[a][0], choices[b][0]
		if x.Nodes != y.Nodes {
			return x.Nodes - y.Nodes
		}
		return int(min(1, max(-1, x.Duration-y.Duration)))
	})
	kept := s.index[:0]
	for _, i := range s.index {
		step := choices[i][0]
		if last := len(s.Steps) - 1; last >= 0 && (step.Duration > s.Steps[last].Duration || step.Nodes == s.Steps[last].Nodes) {
			continue
		}
		kept = append(kept, i)
		s.Steps, s.Choices = append(s.Steps, step), append(s.Choices, choices[i])
	}
	s.index = kept
}

// Choice is the number among the job's choices of size number i.
func (s *Sizes) Choice(i int) int {
	if s.index == nil {
		return s.first + i
	}
	return int(s.index[i])
}

// Class is the job's.
func (s *Sizes) Class() Class { return ClassOf(s.Seconds) }

// Least is the number of its least size that is not below its floor.
func (s *Sizes) Least() int { return s.floor }

// Range is the sizes from which one may be chosen on a machine, by number, for a factor of the reference: from the floor to
// the target, which is the factor times the reference, rounded half up to nodes, and then the largest listed size that is no
// larger. Where the machine is smaller than the floor (it lost nodes), it is the largest listed size that the machine has. It
// is false when the machine has none.
func (s *Sizes) Range(factor float64, machine int) (lo, hi int, ok bool) {
	most := len(s.Steps) - 1
	if s.Steps[most].Nodes > machine {
		if most = s.upTo(machine); most < 0 {
			return 0, 0, false
		}
	}
	if most <= s.floor {
		return most, most, true
	}
	switch target := factor*float64(s.Nodes) + .5; {
	case target >= float64(s.Steps[most].Nodes):
		hi = most
	case target < float64(s.Steps[s.floor].Nodes):
		hi = s.floor
	default:
		hi = s.upTo(int(target))
	}
	return s.floor, hi, true
}

// Rounding is how a target becomes whole nodes.
type Rounding uint8

// The roundings. The paper does not say which is its own.
const (
	HalfUp Rounding = iota
	Down
	Up
)

// Of is the factor by which Range, which rounds half up, has the target that a factor has by this rounding.
func (r Rounding) Of(factor float64, s *Sizes) float64 {
	n := float64(s.Nodes)
	switch r {
	case Down:
		return math.Floor(factor*n) / n
	case Up:
		return math.Ceil(factor*n) / n
	}
	return factor
}

// UpTo is the number of the largest size that has no more nodes than those; below 0 when there is none.
func (s *Sizes) UpTo(nodes int) int {
	if nodes >= s.Steps[len(s.Steps)-1].Nodes {
		return len(s.Steps) - 1
	}
	return s.upTo(nodes)
}

// upTo is UpTo for fewer nodes than the largest size has.
func (s *Sizes) upTo(nodes int) int {
	if s.dense {
		return max(nodes-s.Steps[0].Nodes, -1)
	}
	lo, hi := -1, len(s.Steps)-1
	for hi-lo > 1 {
		if middle := (lo + hi) / 2; s.Steps[middle].Nodes <= nodes {
			lo = middle
		} else {
			hi = middle
		}
	}
	return lo
}

// Lasts is how long the job lasts on a number of nodes that need not be whole, in seconds: its speed, 1/T, is linear between
// listed sizes. More or fewer nodes than it listed change nothing.
func (s *Sizes) Lasts(nodes float64) float64 {
	last := len(s.Steps) - 1
	if nodes >= float64(s.Steps[last].Nodes) {
		return float64(s.Steps[last].Duration)
	}
	if nodes <= float64(s.Steps[0].Nodes) {
		return float64(s.Steps[0].Duration)
	}
	return s.between(nodes)
}

// between is Lasts for more nodes than the least size has, and fewer than the largest.
func (s *Sizes) between(nodes float64) float64 {
	i := s.upTo(int(nodes))
	a, b := &s.Steps[i], &s.Steps[i+1]
	part := nodes - float64(a.Nodes)
	if !s.dense {
		part /= float64(b.Nodes - a.Nodes)
	}
	x, y := float64(a.Duration), float64(b.Duration)
	return x * y / (y + part*(x-y))
}

// bounds are the nodes of the floor, and of the largest size on a machine, which is no less.
func (s *Sizes) bounds(machine int) (least, most float64) {
	floor := s.Steps[s.floor].Nodes
	return float64(floor), float64(max(floor, min(s.Steps[len(s.Steps)-1].Nodes, machine)))
}

// wide is a number of 128 bits.
type wide struct{ high, low uint64 }

func (a wide) less(b wide) bool { return a.high < b.high || a.high == b.high && a.low < b.low }

// squared is nodes x time^2: by it the reference is the least, which is where time / efficiency is (N_PWS of the paper). Times
// above 2^47 seconds count as that.
func squared(step core.Step) wide {
	d := uint64(min(step.Duration, 1<<47))
	n := uint64(min(step.Nodes, 1<<32-1))
	high, low := bits.Mul64(d, d)
	carry, low := bits.Mul64(low, n)
	return wide{high*n + carry, low}
}
