package ep

import (
	"slices"

	"accordion/core"
	"accordion/core/profile"
)

// Compact starts a scheduled profile as late as its completion allows, which removes waste (CoreGRID 2011,
// section 4.2, compacting). It places the steps from the last to the first, and ends each as late as possible.
// `start` and `scheduled` are what Fit returned for ep on p with the same limit. Completion and limit do not
// change.
func (f *Fitter) Compact(ep core.EP, p *profile.Profile, limit Limit, start core.Time, scheduled core.EP) (core.Time, core.EP) {
	if late, ok := f.compact(ep, p, limit, start, scheduled); ok {
		return late, slices.Clone(f.late)
	}
	return start, scheduled
}

// compact leaves the compacted schedule in f.late. ok is false if there is nothing to gain.
func (f *Fitter) compact(ep core.EP, p *profile.Profile, limit Limit, start core.Time, scheduled core.EP) (late core.Time, ok bool) {
	length := scheduled.Total()
	if length <= ep.Total() {
		return start, false // no step waits
	}
	// In a mirrored profile the last step comes first, and the earliest completion there is the latest start here.
	// Nothing before start can be needed, so only [start, end) is mirrored.
	end := start + length
	f.mirrored = append(f.mirrored[:0], ep...)
	slices.Reverse(f.mirrored)
	if f.mirror == nil {
		f.mirror = profile.New(p.Nodes())
	}
	f.mirror.MirrorOf(p, start, end)
	begin, ok := f.fit(&f.late, f.mirrored, f.mirror.Without(0, nil), limit, -end, endless)
	if !ok || begin != -end {
		return start, false
	}
	slices.Reverse(f.late)
	return end - f.late.Total(), true
}
