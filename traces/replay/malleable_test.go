package replay_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"accordion/core"
	"accordion/core/malleable"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/traces/replay"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

func splitmix(x uint64) float64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}

func TestX(t *testing.T) {
	for _, log := range []string{"KTH-SP2-1996-2.1-cln.swf.gz", "SDSC-SP2-1998-4.2-cln.swf.gz", "lublin_256.swf.gz"} {
		l, err := swf.ReadFile(os.Getenv("ACCORDION_TRACES")+"/"+log, swf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sel, err := workload.Selection{}.Select(l)
		if err != nil {
			t.Fatal(err)
		}
		w := sel.Workload
		easy := replay.Run(w, sched.EASY{})
		wait := func(r replay.Result, rigid bool) float64 {
			sum, n := 0., 0.
			for i, o := range r.Outcomes {
				if !rigid || w.Jobs[i].Range == nil {
					sum += float64(o.Start - w.Jobs[i].Submit)
					n++
				}
			}
			return sum / n
		}
		var base, ours, baseR, oursR, ref float64
		for seed := uint64(1); seed <= 2; seed++ {
			speed := piecewise
			for i := range w.Jobs {
				j := &w.Jobs[i]
				j.Range = nil
				if splitmix(seed*1000003+uint64(j.Number)) < .3 {
					j.Range = &workload.Range{Range: core.Range{Min: (j.Size + 3) / 4, Max: min(2*j.Size, w.Machine.Nodes), Every: 300, Cost: 30, Speed: speed}, Real: speed}
				}
			}
			p, _ := policy.Named("patient", sched.FirstCome)
			begin := time.Now()
			r := replay.Run(w, malleable.Policy{Patient: p.Policy.(sched.Patient)})
			took := time.Since(begin)
			plain := plainMalleable{w: w, points: 300, cost: 30, wait: 24 * 3600, factor: 2}
			plain.run()
			diff, first := 0, -1
			var sum float64
			for i, o := range plain.outcomes {
				sum += float64(o.start - w.Jobs[i].Submit)
				if o.start != r.Outcomes[i].Start {
					diff++
					if first < 0 || o.start < plain.outcomes[first].start {
						first = i
					}
				}
			}
			if first >= 0 {
				fmt.Println("plain", sum/float64(len(w.Jobs))/wait(easy, false), "differ", diff, "first", w.Jobs[first].Number, plain.outcomes[first].start, r.Outcomes[first].Start, w.Jobs[first])
			}
			r2 := replay.Run(w, malleable.Policy{Patient: p.Policy.(sched.Patient), ToReference: true})
			base += wait(easy, false)
			ours += wait(r, false)
			ref += wait(r2, false)
			baseR += wait(easy, true)
			oursR += wait(r, true)
			fmt.Println(log, seed, wait(r, false)/wait(easy, false), wait(r, true)/wait(easy, true), wait(r2, false)/wait(easy, false), took, replay.Resizes(w, r))
		}
		fmt.Println(log, wait(easy, false)/3600, ours/base, oursR/baseR, ref/base)
	}
}
