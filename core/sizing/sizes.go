package sizing

import (
	"math"
	"math/bits"
	"slices"

	"accordion/core"
)

// Floor defines the smallest size that is chosen for a job.
type Floor uint8

// The floors.
const (
	HalfReference Floor = iota // half of the reference, rounded up
	AsListed                   // the smallest listed size: N_min of the paper
)

// Sizes are the listed sizes of a job from which one may be chosen, and its reference. They are read only.
//
// A size that lasts longer than one with fewer nodes is left out, as is a size without nodes or time. A job with a
// profile of several steps has one size: the peak of its first choice for its total duration. No size is chosen for
// it here.
type Sizes struct {
	Choices []core.EP   // sorted by nodes; durations never increase
	Steps   []core.Step // Choices, as one step each
	Nodes   int         // the reference's nodes (N)
	Seconds core.Time   // the reference's duration (T), without the job's pause
	Several bool        // the job has a profile of several steps

	index []int32 // index[i] is the index of Choices[i] in the job's choices; if nil, that index is first+i
	first int
	ref   int  // index of the reference in Steps
	floor int  // index of the smallest size that is not below the floor
	dense bool // each size has one node more than the one before
}

// New returns the sizes of a job, or nil if none of its choices can run.
func New(j core.Job, f Floor) *Sizes {
	s := new(Sizes)
	if !s.Read(j, f) {
		return nil
	}
	return s
}

// Read does what New does, in the memory of an earlier job. It returns false if none of the choices can run.
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

// At returns the sizes of the same job with size i only. The reference stays the same.
func (s *Sizes) At(i int) *Sizes {
	return &Sizes{
		Choices: s.Choices[i : i+1 : i+1], Steps: []core.Step{s.Steps[i]}, Nodes: s.Nodes, Seconds: s.Seconds, Several: s.Several,
		first: s.Choice(i), dense: true,
	}
}

// runs returns how many seconds a job runs if it holds its nodes for `has` seconds: all but its pause.
func runs(has, pause core.Time) core.Time { return max(has-max(pause, 0), min(has, 1)) }

// whole reads a job with several steps.
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

// usable reports whether a choice is a single valid step.
func usable(ep core.EP) bool {
	return len(ep) == 1 && ep[0].Nodes >= 0 && ep[0].Duration >= 1 && ep[0].Duration <= core.Forever
}

// asListed takes the choices unchanged if they are sorted and all valid.
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

// sorted takes the valid choices and sorts them.
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

// Choice returns the index in the job's choices of size i.
func (s *Sizes) Choice(i int) int {
	if s.index == nil {
		return s.first + i
	}
	return int(s.index[i])
}

// Class returns the job's class.
func (s *Sizes) Class() Class { return ClassOf(s.Seconds) }

// Least returns the index of the smallest size that is not below the floor.
func (s *Sizes) Least() int { return s.floor }

// Range returns the indexes of the sizes that may be chosen on a machine, for a factor of the reference. They reach
// from the floor to the target: the factor times the reference, rounded half up to whole nodes, then down to a listed
// size. If the machine is smaller than the floor, because it lost nodes, the result is the largest listed size that
// fits. ok is false if none fits.
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

// Rounding is how a target is rounded to whole nodes.
type Rounding uint8

// The roundings. The paper does not name the one that it uses.
const (
	HalfUp Rounding = iota
	Down
	Up
)

// Of adjusts a factor for Range, which rounds half up, so that the target is rounded as r requires.
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

// UpTo returns the index of the largest size with at most the given nodes, or -1 if there is none.
func (s *Sizes) UpTo(nodes int) int {
	if nodes >= s.Steps[len(s.Steps)-1].Nodes {
		return len(s.Steps) - 1
	}
	return s.upTo(nodes)
}

// upTo does what UpTo does, for fewer nodes than the largest size has.
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

// Lasts returns how long the job runs on a possibly fractional number of nodes, in seconds. The job's speed, 1/T, is linear between
// listed sizes. Outside of the listed sizes, the job runs as on the smallest or the largest size.
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

// between does what Lasts does, for nodes between the smallest and the largest size.
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

// bounds returns the nodes of the floor, and the nodes of the largest size that fits a machine. The second
// number is at least the first.
func (s *Sizes) bounds(machine int) (least, most float64) {
	floor := s.Steps[s.floor].Nodes
	return float64(floor), float64(max(floor, min(s.Steps[len(s.Steps)-1].Nodes, machine)))
}

// wide is a 128-bit number.
type wide struct{ high, low uint64 }

func (a wide) less(b wide) bool { return a.high < b.high || a.high == b.high && a.low < b.low }

// squared returns nodes x time^2. It is smallest for the reference, which is the size with the least time /
// efficiency (N_PWS of the paper). Times above 2^47 seconds count as 2^47.
func squared(step core.Step) wide {
	d := uint64(min(step.Duration, 1<<47))
	n := uint64(min(step.Nodes, 1<<32-1))
	high, low := bits.Mul64(d, d)
	carry, low := bits.Mul64(low, n)
	return wide{high*n + carry, low}
}
