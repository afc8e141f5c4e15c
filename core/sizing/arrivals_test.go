package sizing

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
)

func drawn(t *rapid.T) File {
	f := File{Log: rapid.String().Draw(t, "log"), Jobs: rapid.IntRange(1, 1000).Draw(t, "jobs"), Days: rapid.Float64Range(1, 1000).Draw(t, "days")}
	for c := range Classes {
		f.Nodes[c], f.Seconds[c] = rapid.Float64Range(1, 1e5).Draw(t, "nodes"), rapid.Float64Range(1, 1e6).Draw(t, "seconds")
		for h := range f.Arrivals {
			f.Arrivals[h][c] = rapid.Float64Range(0.001, 1e4).Draw(t, "arrivals")
		}
	}
	return f
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawn(t)
		back, err := Parse(Format(f))
		if err != nil || back.Statistics != f.Statistics || back.Jobs != f.Jobs || back.Days != f.Days {
			t.Fatalf("%+v became %+v, error %v", f, back, err)
		}
	})
}

func TestInvalidStatisticsFileIsRefused(t *testing.T) {
	s := Statistics{Nodes: [3]float64{1, 2, 3}, Seconds: [3]float64{30, 600, 7200}}
	s.Arrivals[17][1] = 2.5
	whole := string(Format(File{Log: "log", Jobs: 5, Days: 2, Statistics: s}))
	if _, err := Parse([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":       {" \n", "empty"},
		"a log":       {"; MaxProcs: 4\n1 0 -1 100 3", "not a statistics file"},
		"other JSON":  {`{"rows":[]}`, "not a statistics file"},
		"a list":      {`[1,2]`, "not a statistics file"},
		"cut off":     {whole[:len(whole)/2], "damaged: unexpected end"},
		"trailing":    {whole + "{}", "damaged"},
		"a later one": {strings.Replace(whole, `"version": 1`, `"version": 2`, 1), "version 2 of the statistics is not 1"},
		"a class":     {strings.Replace(whole, "medium", "middling", 1), `class "middling" where medium should be`},
		"half hours":  {strings.Replace(whole, "2.5,", "", 1), "in 47 half hours of a day, not in 48"},
		"negative":    {strings.Replace(whole, "2.5,", "-2.5,", 1), "-2.5 medium jobs arrive in half hour 17"},
		"text":        {strings.Replace(whole, "2.5,", `"many",`, 1), "damaged: json: cannot unmarshal"},
		"nodes":       {strings.Replace(whole, `"mean_nodes": 3`, `"mean_nodes": 1e30`, 1), "long jobs of 1e+30 nodes"},
		"nobody":      {strings.Replace(whole, "2.5,", "0,", 1), "no arrivals"},
		"no classes":  {`{"format":"accordion statistics","version":1}`, "0 classes of jobs, not 3"},
	} {
		if _, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one of %q", name, err, c.want)
		}
	}
}

// In any period the same number of jobs arrives by both clocks.
func TestShiftedStatisticsTellTheSameOfAnotherClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, by := drawn(t), rapid.Int64Range(-200_000, 2_000_000_000).Draw(t, "by")
		shifted := Shift(f.Statistics, by)
		for h := range HalfHours {
			for c := range Classes {
				want := 0.0
				for second := range HalfHour { // by counting seconds
					want += f.Arrivals[HalfHourOf(core.Time(h)*HalfHour+second+by)][c] / float64(HalfHour)
				}
				if got := shifted.Arrivals[h][c]; math.Abs(got-want) > 1e-9*want {
					t.Fatalf("shifted by %d s: %v jobs in half hour %d, counted %v", by, got, h, want)
				}
				if h%12 != 0 {
					break
				}
			}
		}
	})
}
