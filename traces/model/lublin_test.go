package model

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"accordion/internal/testenv"
	"accordion/traces/swf"
)

// The test checks the shares of short, medium and long jobs (below a minute, below an hour, longer) and their
// mean sizes. Barsanti and Sodan published them (JSSPP 2006, section 5.4) for 128 nodes and an alpha of 10.23.
func TestJobClassesHaveThePublishedShares(t *testing.T) {
	var (
		jobs, nodes [3]float64
		printed     = [3]struct{ share, nodes float64 }{{42.7, 8}, {26.6, 9}, {30.7, 20}}
	)
	for seed := range uint64(20) {
		for _, r := range (Lublin{Jobs: 10_000, Nodes: 128, Alpha: 10.23, Seed: seed + 1}).Log().Records {
			class := 0
			if r.Run >= 60 {
				class++
			}
			if r.Run >= 3600 {
				class++
			}
			jobs[class]++
			nodes[class] += float64(r.Processors)
		}
	}
	all := jobs[0] + jobs[1] + jobs[2]
	for i, want := range printed {
		share, mean := 100*jobs[i]/all, nodes[i]/jobs[i]
		t.Logf("class %d: %.2f %%, %.2f nodes", i, share, mean)
		if math.Abs(share-want.share) > 0.7 || math.Abs(mean-want.nodes) > 0.8 {
			t.Errorf("class %d: %.2f %% of %.2f nodes; printed are %v", i, share, mean, want)
		}
	}
	if mean := (nodes[0] + nodes[1] + nodes[2]) / all; math.Abs(mean-12) > 0.8 {
		t.Errorf("jobs have %.2f nodes; printed are 12", mean)
	}
}

func TestAlphaChangesOnlySubmissions(t *testing.T) {
	a := Lublin{Jobs: 500, Nodes: 128, Alpha: 10.23, Seed: 3}.Log().Records
	b := Lublin{Jobs: 500, Nodes: 128, Alpha: 9.83, Seed: 3}.Log().Records
	for i := range a {
		if a[i].Processors != b[i].Processors || a[i].Run != b[i].Run {
			t.Fatalf("job %d: %+v and %+v", i+1, a[i], b[i])
		}
	}
	if last := len(a) - 1; a[last].Submit <= b[last].Submit {
		t.Errorf("the last submission is at %d, and with more load at %d", a[last].Submit, b[last].Submit)
	}
}

func TestSizesFitTheMachine(t *testing.T) {
	for _, nodes := range []int{1, 2, 5, 100, 128, 4392} {
		largest := int32(0)
		for _, r := range (Lublin{Jobs: 2000, Nodes: nodes, Alpha: 10.23, Seed: 7}).Log().Records {
			if r.Processors < 1 || r.Run < 1 || r.Submit < 0 {
				t.Fatalf("%d nodes: %+v", nodes, r)
			}
			largest = max(largest, r.Processors)
		}
		if int(largest) > nodes || int(largest) < nodes*9/10 {
			t.Errorf("the largest job on %d nodes has %d", nodes, largest)
		}
	}
}

// TestDistributionsAreThoseOfThePublishedSample compares our samples with lublin_256, a sample of the published
// generator. Two samples of 10,000 independent values of the same distribution differ by more than the constant
// `far` in one of twenty cases (Kolmogorov-Smirnov). Gaps and times of day are not independent, because jobs
// come in clusters. Therefore our gaps and times of day may differ from the published sample by as much as our
// samples differ from each other.
func TestDistributionsAreThoseOfThePublishedSample(t *testing.T) {
	const far = 1.358 * 0.0141421356 // √(2/10000)
	published, err := swf.ReadFile(filepath.Join(testenv.Logs(t, "lublin_256.swf.gz"), "lublin_256.swf.gz"), swf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var own []*swf.Log
	for seed := range uint64(8) {
		own = append(own, Lublin{Jobs: len(published.Records), Nodes: 256, Alpha: 10.2303, Seed: seed + 1}.Log())
	}
	for name, of := range map[string]func(*swf.Log) []int64{
		"sizes":     func(l *swf.Log) []int64 { return each(l, func(r swf.Record) int64 { return int64(r.Size()) }) },
		"run times": func(l *swf.Log) []int64 { return each(l, func(r swf.Record) int64 { return r.Run }) },
		"gaps":      gaps,
		"hours": func(l *swf.Log) []int64 {
			return each(l, func(r swf.Record) int64 { return r.Submit % 86400 / halfHour })
		},
	} {
		var away, apart []float64
		for i, log := range own {
			away = append(away, distance(of(log), of(published)))
			for _, other := range own[:i] {
				apart = append(apart, distance(of(log), of(other)))
			}
		}
		most := far
		if name == "gaps" || name == "hours" {
			most = max(far, slices.Max(apart))
		}
		t.Logf("%s: %.4f to %.4f from the published ones, %.4f to %.4f from each other", name, slices.Min(away), slices.Max(away), slices.Min(apart), slices.Max(apart))
		if mean := mean(away); mean > most {
			t.Errorf("%s: %.4f from the published ones, at most %.4f are due to chance", name, mean, most)
		}
	}
}

func each(l *swf.Log, of func(swf.Record) int64) []int64 {
	all := make([]int64, len(l.Records))
	for i, r := range l.Records {
		all[i] = of(r)
	}
	return all
}

func gaps(l *swf.Log) []int64 {
	all := each(l, func(r swf.Record) int64 { return r.Submit })
	for i := len(all) - 1; i > 0; i-- {
		all[i] -= all[i-1]
	}
	return all
}

// distance returns the largest difference between the distribution functions of two samples.
func distance(a, b []int64) float64 {
	slices.Sort(a)
	slices.Sort(b)
	upTo := func(sample []int64, value int64) float64 {
		n, _ := slices.BinarySearch(sample, value+1)
		return float64(n) / float64(len(sample))
	}
	most := 0.0
	for _, value := range slices.Concat(a, b) {
		most = max(most, math.Abs(upTo(a, value)-upTo(b, value)))
	}
	return most
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// The distribution function is compared with the integral of the density.
func TestGammaBelowIsTheIntegralOfTheDensity(t *testing.T) {
	for _, c := range []struct{ shape, scale float64 }{{8.1737, 3.9631}, {1, 2}, {312, 0.03}} {
		logGamma, _ := math.Lgamma(c.shape)
		density := func(x float64) float64 {
			return math.Exp((c.shape-1)*math.Log(x)-x/c.scale-logGamma) / math.Pow(c.scale, c.shape)
		}
		const pieces = 20_000
		mean := c.shape * c.scale
		sum, step := 0.0, 3*mean/pieces
		for i := range pieces {
			sum += step * density((float64(i)+0.5)*step)
			if i%1000 != 999 {
				continue
			}
			if got := gammaBelow(float64(i+1)*step, c.shape, c.scale); math.Abs(got-sum) > 1e-4 {
				t.Errorf("gamma(%v, %v) below %v: %v, the integral is %v", c.shape, c.scale, float64(i+1)*step, got, sum)
			}
		}
	}
}

func TestGammaHasItsMeanAndVariance(t *testing.T) {
	random := Splitmix(5)
	for _, c := range []struct{ shape, scale float64 }{{10.46, 0.4871}, {4.2, 0.94}, {312, 0.03}, {1, 1}} {
		const n = 100_000
		sum, squares := 0.0, 0.0
		for range n {
			x := random.gamma(c.shape, c.scale)
			sum, squares = sum+x, squares+x*x
		}
		mean, variance := c.shape*c.scale, c.shape*c.scale*c.scale
		got := sum / n
		if spread := squares/n - got*got; math.Abs(got-mean) > 4*math.Sqrt(variance/n) || math.Abs(spread/variance-1) > 0.05 {
			t.Errorf("gamma(%v, %v): mean %v, variance %v; they are %v, %v", c.shape, c.scale, got, spread, mean, variance)
		}
	}
}
