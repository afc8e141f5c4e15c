package profile

import (
	"testing"

	"accordion/core"
)

// packer draws the jobs of the workload "pack" and hashes where they are placed. It needs only integers, so that
// programs in other languages can be compared with it.
type packer struct {
	state uint64 // of splitmix64
	hash  uint64 // of the starts, as in FNV-1a but 64 bits at a time
	ep    core.EP
}

func newPacker() *packer { return &packer{state: 42, hash: 0xcbf29ce484222325, ep: make(core.EP, 1)} }

// packNodes is the size of the machine.
const packNodes = 10_000

func (p *packer) random() uint64 {
	p.state += 0x9e3779b97f4a7c15
	z := p.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// job draws the next job: sizes about evenly distributed over the powers of two up to 2,047, durations of a minute to
// a day.
func (p *packer) job() core.Step {
	k := p.random() % 11
	nodes := 1<<k + p.random()%(1<<k)
	return core.Step{Duration: 60 + core.Time(p.random()%86341), Nodes: int(nodes)}
}

// packable is what the workload needs of a profile.
type packable interface {
	FirstFit(n int, d, from core.Time) (core.Time, bool)
	Add(start core.Time, ep core.EP)
}

// pack places the next jobs, each at its first fit from 0 on.
func (p *packer) pack(into packable, jobs int) (hash uint64) {
	for range jobs {
		p.ep[0] = p.job()
		start, _ := into.FirstFit(p.ep[0].Nodes, p.ep[0].Duration, 0)
		into.Add(start, p.ep)
		p.hash = (p.hash ^ uint64(start)) * 0x100000001b3
	}
	return p.hash
}

// known has the hashes that programs in other languages computed, by number of jobs.
var known = map[int]uint64{1_000: 0x7250b04873842878, 10_000: 0x376a95d087f9e840, 29_057: 0x5d39f35a5ee1c904}

func TestThePackedStartsAreThoseOfOtherPrograms(t *testing.T) {
	for jobs, want := range known {
		if got := newPacker().pack(New(packNodes), jobs); got != want {
			t.Errorf("%d jobs: hash %016x, want %016x", jobs, got, want)
		}
		if jobs > 10_000 {
			continue // the plain profile is too slow
		}
		if got := newPacker().pack(newPlain(packNodes), jobs); got != want {
			t.Errorf("%d jobs on the plain profile: hash %016x, want %016x", jobs, got, want)
		}
	}
}
