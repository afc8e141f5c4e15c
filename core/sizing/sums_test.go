package sizing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"accordion/core"
)

// plainLoad computes the load by its definition: job by job, in order.
func plainLoad(w *World, s *Sizes, f *Forecast, factor float64) float64 {
	clip := func(x *Sizes) float64 {
		most := min(x.Steps[len(x.Steps)-1].Nodes, w.Machine)
		return max(min(factor*float64(x.Nodes), float64(most)), float64(x.Steps[x.floor].Nodes))
	}
	own := clip(s)
	span := s.Lasts(own)
	work := own * span
	for _, h := range w.Running {
		if rest := h.End - w.Now; rest > 0 {
			work += min(float64(rest), span) * float64(h.Nodes)
		}
	}
	for _, x := range w.Waiting {
		if x != s {
			work += min(x.Lasts(clip(x)), span) * clip(x)
		}
	}
	if f != nil {
		work += f.work(w.Now, span, factor)
	}
	return work / (float64(w.Machine) * span)
}

// plainSearch returns the trials of Load.Search, with loads from plainLoad.
func plainSearch(l Load, w *World, s *Sizes) (all []Trial) {
	f := l.forecast(w)
	factor, least, bad := 1., math.Inf(1), 0
	for {
		load := plainLoad(w, s, f, factor)
		off := math.Abs(load - l.Ideal)
		told := factor
		if f == nil && !l.Beyond {
			told = min(told, 1)
		}
		all = append(all, Trial{told, load, off < least})
		if off < least {
			least, bad = off, 0
		} else if bad++; bad == l.Bad {
			return all
		}
		before := factor
		if factor *= l.Ideal / load; off <= l.Delta || factor == before || !(factor < math.Inf(1)) {
			return all
		}
	}
}

// anyList draws a job that lists sizes of some kind.
func anyList(r *rand.Rand, machine int) core.Job {
	seconds := core.Time(math.Exp(12 * r.Float64()))
	if r.IntN(50) == 0 {
		seconds = 1 + r.Int64N(core.Forever)
	}
	j, n := core.Job{}, 1+r.IntN(machine)
	switch r.IntN(5) {
	case 0: // rigid, or of several steps
		for range 1 + r.IntN(2)*r.IntN(2) {
			j.Choices = []core.EP{append(slices.Concat(j.Choices...), core.Step{Duration: seconds, Nodes: r.IntN(n + 1)})}
		}
	case 1: // powers of two
		for k := 1; k <= 2*n; k *= 2 {
			j.Choices = append(j.Choices, core.EP{{Duration: seconds/core.Time(k) + core.Time(k), Nodes: k}})
		}
	case 2: // perfect speed-up, from a few nodes on
		for k := 1 + r.IntN(3); k <= n; k++ {
			j.Choices = append(j.Choices, core.EP{{Duration: max(1, seconds/core.Time(k)), Nodes: k}})
		}
	case 3: // anything
		for range 1 + r.IntN(6) {
			j.Choices = append(j.Choices, core.EP{{Duration: 1 + r.Int64N(seconds+1), Nodes: 1 + r.IntN(2*n)}})
		}
	case 4: // from half to twice its reference
		for k := (n + 1) / 2; k <= min(2*n, machine); k++ {
			j.Choices = append(j.Choices, core.EP{{Duration: seconds*core.Time(n)/core.Time(n+k) + 1, Nodes: k}})
		}
	}
	return j
}

// crowded draws a world whose load at the references is between none and many times the machine.
func crowded(r *rand.Rand) *World {
	w := &World{Now: r.Int64N(1 << 30), Machine: 1 + r.IntN(60)}
	for range r.IntN(8) {
		end := w.Now - 100 + r.Int64N(40_000)
		if r.IntN(9) == 0 {
			end = core.Forever
		}
		w.Running = append(w.Running, Holding{Nodes: r.IntN(w.Machine + 1), End: end})
	}
	floor, alike := Floor(r.IntN(2)), r.IntN(3)
	var j core.Job
	for range 1 + r.IntN(30) {
		if j.Choices == nil || r.IntN(3) >= alike {
			j = anyList(r, max(1, w.Machine>>r.IntN(6)))
		}
		if s := New(j, floor); s != nil && s.Steps[0].Nodes <= w.Machine {
			w.Waiting = append(w.Waiting, s)
		}
	}
	if r.IntN(9) == 0 && len(w.Waiting) > 0 {
		w.Waiting = append(w.Waiting, w.Waiting[0])
	}
	return w
}

// A world changes repeatedly and is settled each time. Then all its waiting jobs and one other job are sized. Each factor that is
// tried, and each load, equals the result of the definition to the last bit. Most loads come from tables.
func TestASettledWorldGivesEachLoadToTheLastBit(t *testing.T) {
	known := &Statistics{Nodes: [Classes]float64{4, 4, 8}, Seconds: [Classes]float64{30, 600, 7200}}
	known.Arrivals[3][Medium], known.Arrivals[20][Long] = 5, 1
	tabled, all := 0, 0
	var memory *sums
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 16))
		w := crowded(r)
		w.sums = memory
		w.Settle()
		memory = w.sums
		l := Scojo()
		l.Beyond = r.IntN(2) == 0
		if r.IntN(2) == 0 {
			l.Known = known.Forecast()
		}
		asked := slices.Clone(w.Waiting)
		if s := New(anyList(r, w.Machine), HalfReference); s != nil {
			asked = append(asked, s)
		}
		r.Shuffle(len(asked), func(a, b int) { asked[a], asked[b] = asked[b], asked[a] })
		for i, s := range asked {
			var got []Trial
			l.Search(w, s, func(t Trial) { got = append(got, t) })
			want := plainSearch(l, w, s)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, question %d: tried %v, want %v", seed, i, got, want)
			}
			for _, tried := range want {
				own, span := w.sums.on(s, tried.Factor)
				if all++; w.sums.added(s, tried.Factor, own, span) < exact {
					tabled++
				}
			}
		}
	}
	if tabled < all/4 || tabled > all*19/20 {
		t.Errorf("%d of %d loads are by tables: not both ways are tried", tabled, all)
	}
}

func TestACopyOfASettledWorldHasSumsOfItsOwn(t *testing.T) {
	w := queueOf(20, 256)
	w.Settle()
	smaller := *w
	smaller.Machine = 100
	for range 3 {
		for _, one := range []*World{w, &smaller} {
			for _, s := range one.Waiting[:3] {
				want := plainSearch(Scojo(), one, s)
				i := 0
				Scojo().Search(one, s, func(got Trial) {
					if got != want[i] {
						t.Errorf("of %d nodes: tried %+v, want %+v", one.Machine, got, want[i])
					}
					i++
				})
			}
		}
	}
}

// Once the memory of a world is allocated, sums over any other queue allocate no more.
func TestSumsOfTheNextWorldNeedNoMemory(t *testing.T) {
	w := queueOf(40, 256)
	ask := func() {
		w.Settle()
		w.Now++
		for _, s := range w.Waiting {
			Scojo().Factor(w, s)
		}
	}
	ask()
	if n := testing.AllocsPerRun(10, ask); n > 0 {
		t.Errorf("a world asks %v times for memory", n)
	}
}

// queueOf returns a world of many waiting jobs of 128 sizes, no two alike, on a machine with 500 running jobs.
func queueOf(jobs, machine int) *World {
	r := rand.New(rand.NewPCG(1, 1))
	w := &World{Machine: machine}
	for range jobs {
		n, t := math.Exp2(7*r.Float64()), 30*math.Exp(8*r.Float64()) // the reference, and half of its duration in seconds
		var j core.Job
		for k := 1.; k <= 128; k++ {
			j.Choices = append(j.Choices, core.EP{{Duration: core.Time(t*n/k+t*k/n) + 1, Nodes: int(k)}})
		}
		w.Waiting = append(w.Waiting, New(j, HalfReference))
	}
	for i := range core.Time(500) {
		w.Running = append(w.Running, Holding{Nodes: machine / 1000, End: 600 + 37*i})
	}
	return w
}

// BenchmarkFactors sizes each of 2,000 waiting jobs: on a machine with a small fraction of the nodes that the jobs request, and on
// larger machines, where sizes are between the smallest and the largest listed size. docs/performance.md has the figures.
func BenchmarkFactors(b *testing.B) {
	for _, machine := range []int{1024, 4096, 16384} {
		w := queueOf(2000, machine)
		wanted := 0
		for _, s := range w.Waiting {
			wanted += s.Nodes
		}
		name := fmt.Sprintf("%d nodes, of %d", wanted, machine)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				w.Settle()
				for _, s := range w.Waiting {
					Scojo().Factor(w, s)
				}
			}
		})
		b.Run(name+"/plain", func(b *testing.B) {
			for b.Loop() {
				for _, s := range w.Waiting {
					plainSearch(Scojo(), w, s)
				}
			}
		})
	}
}
