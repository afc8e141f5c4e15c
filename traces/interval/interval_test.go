package interval

import (
	"fmt"
	"math"
	"testing"
)

// The expected values are published ones of Student's distribution (95 %, two-sided).
func TestIntervalsUseStudentsDistribution(t *testing.T) {
	for freedom, want := range map[int]float64{1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262, 19: 2.093, 30: 2.042, 999: 1.962} {
		if got := student(freedom); math.Abs(got-want) > 0.001 {
			t.Errorf("with %d degrees of freedom %v, want %v", freedom, got, want)
		}
	}
	e := Of([]float64{1, 2, 3, 4}) // variance 5/3
	if want := 3.182 * math.Sqrt(5./3/4); e.Mean != 2.5 || math.Abs(e.Half-want) > 0.001 {
		t.Errorf("%+v, want 2.5 ± %v", e, want)
	}
	if e := Of([]float64{7}); e.Mean != 7 || !math.IsNaN(e.Half) || e.Slack() != 0 {
		t.Errorf("of one value: %+v", e)
	}
}

func ExampleOf() {
	e := Of([]float64{1.02, .97, 1.01, .99})
	fmt.Printf("%.3f ± %.3f\n", e.Mean, e.Half)
	// Output: 0.998 ± 0.035
}
