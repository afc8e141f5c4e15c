package workload

import (
	"fmt"
	"strconv"
	"strings"

	"accordion/core"
	"accordion/traces/model"
)

// MalleableJobs determines which share of the rigid jobs become malleable, and how these jobs behave. The
// reference for a malleable job's size and speed is the rigid job in the log.
type MalleableJobs struct {
	Share  float64 // share of the jobs, 0 to 1
	Bounds Bounds  // bounds of their sizes
	Every  core.Time
	Cost   core.Time
	Curve  Curve // speed on other sizes
}

// Bounds are the smallest and the largest size of a malleable job, as multiples of the reference size. The
// sizes are rounded up to whole nodes.
type Bounds struct{ Min, Max Ratio }

// Ratio is a number above 0.
type Ratio struct{ Above, Below int64 }

// UsualMalleable has the default values: sizes from a quarter of the reference size to twice the reference
// size, a resize point every 300 s, and 30 s without progress for a resize.
var UsualMalleable = MalleableJobs{Bounds: Bounds{Ratio{1, 4}, Ratio{2, 1}}, Every: 300, Cost: 30, Curve: Piecewise}

// of returns the multiple of a size, rounded up.
func (r Ratio) of(size int) int { return int((int64(size)*r.Above + r.Below - 1) / r.Below) }

// String returns the ratio in the form of ParseBounds.
func (r Ratio) String() string {
	if r.Below == 1 {
		return strconv.FormatInt(r.Above, 10)
	}
	return fmt.Sprintf("%d/%d", r.Above, r.Below)
}

// String returns the bounds in the form of ParseBounds.
func (b Bounds) String() string { return b.Min.String() + ".." + b.Max.String() }

// ParseBounds parses MIN..MAX, such as 1/4..2: multiples of the reference size. MIN is at most 1, and MAX is at
// least 1.
func ParseBounds(text string) (Bounds, error) {
	least, most, ok := strings.Cut(text, "..")
	from, fromOK := parseRatio(least)
	to, toOK := parseRatio(most)
	if !ok || !fromOK || !toOK || from.Above > from.Below || to.Above < to.Below {
		return Bounds{}, fmt.Errorf("%s is not MIN..MAX with MIN at most 1 and MAX at least 1, as in 1/4..2", core.Shown(text))
	}
	return Bounds{from, to}, nil
}

// parseRatio parses a whole number or a fraction of whole numbers, each from 1 to 1000.
func parseRatio(text string) (Ratio, bool) {
	above, below, fraction := strings.Cut(text, "/")
	if !fraction {
		below = "1"
	}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n > 1000 || s[0] == '+' {
			return 0
		}
		return n
	}
	r := Ratio{number(above), number(below)}
	return r, r.Above > 0 && r.Below > 0
}

// draws reports whether a job is one of those that become malleable. It depends only on the seed and the job's number.
func (m MalleableJobs) draws(seed uint64, number int64) bool {
	d := model.Splitmix(seed*1000003 + uint64(number))
	return d.Share() < m.Share
}

// apply makes a rigid job malleable.
func (m MalleableJobs) apply(j *Job, machine int, seed uint64) {
	r := Range{Range: core.Range{Min: max(1, m.Bounds.Min.of(j.Size)), Max: min(m.Bounds.Max.of(j.Size), machine), Every: m.Every, Cost: m.Cost}}
	r.Max = max(r.Max, j.Size)
	r.Speed = m.Curve.speed(j, r.Min, r.Max, machine, seed)
	r.Real = r.Speed
	j.Range = &r
}

// scojoP is the speed of Piecewise: efficiencies of .8, .65 and .4 on half the reference size, on the reference
// size and on twice the reference size.
var scojoP = core.Speed{{Size: .5, Speed: .4}, {Size: 1, Speed: .65}, {Size: 2, Speed: .8}}

// speed returns the speed of a job for sizes between two bounds. Curves other than Piecewise differ from job to job. Their speed is a
// piecewise linear curve through at most 16 sizes.
func (c Curve) speed(j *Job, from, to, machine int, seed uint64) core.Speed {
	if c == Piecewise {
		return scojoP
	}
	const points, base = 16, 1 << 40
	d := jobStream(seed, j.Number)
	law := c.law(j, machine, &d)
	speed := core.Speed{}
	step := max(1, (to-from+points-1)/points)
	for n := from; ; n = min(n+step, to) {
		speed = append(speed, core.SpeedPoint{Size: float64(n) / float64(j.Size), Speed: base / float64(law.lasts(base, n))})
		if n == to {
			return speed
		}
	}
}
