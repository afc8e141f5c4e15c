package ep_test

import (
	"fmt"
	"sync"
	"testing"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/profile"
)

// machine is the size of the machine in the large benchmarks.
const machine = 10_000

// splitmix is the generator splitmix64, which gives the same numbers in every language.
type splitmix uint64

func (s *splitmix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// power draws 2^k + r mod 2^k nodes, with k from 0 to 10.
func (s *splitmix) power() int {
	k := s.next() % 11
	return int(1<<k + s.next()%(1<<k))
}

// pack returns a machine with jobs of 2^k + r mod 2^k nodes, which last from a minute to a day. The jobs were
// placed one after the other, each at the earliest time at which it fits.
func pack(jobs int) *profile.Profile {
	p, s := profile.New(machine), splitmix(42)
	for range jobs {
		nodes := s.power()
		d := core.Time(60 + s.next()%86341)
		start, _ := p.FirstFit(nodes, d, 0)
		p.Add(start, core.EP{{Duration: d, Nodes: nodes}})
	}
	return p
}

var packed100000 = sync.OnceValue(func() *profile.Profile { return pack(100_000) })

// sizes are the node counts of the steps in the large benchmarks.
var sizes = []struct {
	name string
	draw func(*splitmix) int
}{
	{"nodes=1-75", func(s *splitmix) int { return int(1 + s.next()%75) }},
	{"nodes=2^k+r", (*splitmix).power},
	{"nodes=1-7500", func(s *splitmix) int { return int(1 + s.next()%7500) }},
}

// applications draws n profiles. Each has from `least` to `most` steps, which last from 500 to 3600 seconds.
func applications(n, least, most int, nodes func(*splitmix) int) []core.EP {
	s, eps := splitmix(2011), make([]core.EP, n)
	for i := range eps {
		for range least + int(s.next()%uint64(most-least+1)) {
			d := core.Time(500 + s.next()%3101)
			eps[i] = append(eps[i], core.Step{Duration: d, Nodes: nodes(&s)})
		}
	}
	return eps
}

// BenchmarkFitPacked fits 1,000 profiles of ten steps, one in each round, into the machine that pack returns. A fit may
// take 150 µs for steps of 1 to 75 nodes, and 300 µs for steps of 2^k + r nodes. It takes 29 to 33 µs and 73 to 95 µs of
// processor time. The plain implementation goes step by step, on the same index.
func BenchmarkFitPacked(b *testing.B) {
	for _, size := range sizes[:2] {
		eps := applications(1000, 10, 10, size.draw)
		for _, name := range []string{"noX", "2X", "infX", "2X+c", "2X+opt", "infX+opt"} {
			b.Run(size.name+"/"+name, func(b *testing.B) {
				p, a, n := packed100000(), algorithm(b, name), 0
				var f ep.Fitter
				b.ReportAllocs()
				for b.Loop() {
					if _, _, ok := a.Place(&f, eps[n%len(eps)], p, 0); !ok {
						b.Fatal("does not fit")
					}
					n++
				}
			})
		}
		b.Run(size.name+"/2X without pruning", func(b *testing.B) {
			p, n := packed100000(), 0
			for b.Loop() {
				if _, ok := plain(eps[n%len(eps)], p, ep.Twice, 0); !ok {
					b.Fatal("does not fit")
				}
				n++
			}
		})
	}
}

// BenchmarkList schedules profiles of 1 to 10 steps on an empty machine of 10,000 nodes. 10,000 profiles may take 0.4 s, or
// 2 s if their steps have 1 to 7,500 nodes. Ten times as many profiles may take 15 times as long.
func BenchmarkList(b *testing.B) {
	for _, size := range sizes {
		for _, n := range []int{1000, 10_000} {
			eps := applications(n, 1, 10, size.draw)
			for _, name := range []string{"noX", "2X", "infX"} {
				b.Run(fmt.Sprintf("%s/n=%d/%s", size.name, n, name), func(b *testing.B) {
					a := algorithm(b, name)
					for b.Loop() {
						if _, err := ep.Schedule(profile.New(machine), eps, nil, a); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
