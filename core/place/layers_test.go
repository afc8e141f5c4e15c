package place_test

import (
	"fmt"
	"strings"
	"testing"

	"accordion/core"
	"accordion/core/place"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLayersLeaveLastInFirstOut(t *testing.T) {
	for _, c := range []struct {
		name  string
		start core.Time
		ep    core.EP
		want  []place.Layer
	}{
		{"nothing has no layer", 5, nil, []place.Layer{}},
		{"a rigid job is one layer", 5, epOf("4x10"), []place.Layer{{5, 15, 4, 0}}},
		{"growth lies on top", 0, epOf("2x10 5x10 3x10"),
			[]place.Layer{{0, 30, 2, 0}, {10, 30, 1, 1}, {10, 20, 2, 1}}},
		{"a shrink below a layer's floor cuts the layer under it", 0, epOf("4x10 6x10 1x10"),
			[]place.Layer{{0, 30, 1, 0}, {0, 20, 3, 0}, {10, 20, 2, 1}}},
		{"a delay and an empty step are no layers", 0, epOf("0x7 9x0 2x3"),
			[]place.Layer{{7, 10, 2, 2}}},
		{"steps without a known end do not overflow", 9, core.EP{{Duration: core.Forever, Nodes: 1}, {Duration: core.Forever, Nodes: 2}},
			[]place.Layer{{9, core.Forever, 1, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, place.Layers(c.start, c.ep)); d != "" {
				t.Error(d)
			}
		})
	}
}

// epOf parses a profile, "2x10 5x20": 2 nodes for 10 seconds, then 5 for 20.
func epOf(text string) core.EP {
	var ep core.EP
	for field := range strings.FieldsSeq(text) {
		var s core.Step
		if _, err := fmt.Sscanf(field, "%dx%d", &s.Nodes, &s.Duration); err != nil {
			panic(err)
		}
		ep = append(ep, s)
	}
	return ep
}

func drawEP(t *rapid.T, steps, duration, nodes int) core.EP {
	ep := make(core.EP, rapid.IntRange(1, steps).Draw(t, "steps"))
	for i := range ep {
		ep[i] = core.Step{
			Duration: core.Time(rapid.IntRange(1, duration).Draw(t, "duration")),
			Nodes:    rapid.IntRange(0, nodes).Draw(t, "nodes"),
		}
	}
	return ep
}

func TestLayersAddUpToTheirProfile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ep := drawEP(t, 8, 4, 6)
		start := core.Time(rapid.IntRange(-5, 5).Draw(t, "start"))
		layers := place.Layers(start, ep)
		for x := start - 1; x <= start+ep.Total(); x++ {
			sum := 0
			for _, l := range layers {
				if l.From <= x && x < l.To {
					sum += l.Count
				}
				if l.From == x && ep[l.Step].Nodes < l.Count {
					t.Fatalf("layer %+v begins with step %d of %d nodes", l, l.Step, ep[l.Step].Nodes)
				}
			}
			if sum != ep.At(x-start) {
				t.Fatalf("%v: %d nodes of layers at second %d, want %d", ep, sum, x-start, ep.At(x-start))
			}
		}
	})
}
