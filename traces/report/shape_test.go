package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// edge is a unit of border: of the cell at column x and row y its left side, or its top.
type edge struct {
	x, y int
	side string
}

// dumbBorder looks at every cell and its neighbours.
func dumbBorder(cells [][]bool) map[edge]bool {
	covered := func(x, y int) bool {
		return y >= 0 && y < len(cells) && x >= 0 && x < len(cells[y]) && cells[y][x]
	}
	border := map[edge]bool{}
	for y := 0; y <= len(cells); y++ {
		for x := 0; x <= len(cells[0]); x++ {
			if covered(x, y) != covered(x-1, y) {
				border[edge{x, y, "left"}] = true
			}
			if covered(x, y) != covered(x, y-1) {
				border[edge{x, y, "top"}] = true
			}
		}
	}
	return border
}

// unitEdges cuts an outline of whole coordinates into units.
func unitEdges(t *rapid.T, path string) map[edge]bool {
	border := map[edge]bool{}
	add := func(e edge) {
		if border[e] {
			t.Fatalf("%+v is drawn twice in %s", e, path)
		}
		border[e] = true
	}
	for _, piece := range strings.Split(path, "M")[1:] {
		var x, y, to int
		if n, _ := fmt.Sscanf(piece, "%d %dH%d", &x, &y, &to); n == 3 {
			for ; x < to; x++ {
				add(edge{x, y, "top"})
			}
		} else if n, _ := fmt.Sscanf(piece, "%d %dv%d", &x, &y, &to); n == 3 {
			for ; to > 0; to-- {
				add(edge{x, y + to - 1, "left"})
			}
		} else {
			t.Fatalf("piece %q of the outline is no line", piece)
		}
	}
	return border
}

func TestTheOutlineIsTheBorderAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, columns := rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 8).Draw(t, "columns")
		cells := make([][]bool, rows)
		names := map[string]int{}
		var j Job
		for y := range cells {
			names[fmt.Sprint(y)] = y
			cells[y] = rapid.SliceOfN(rapid.Bool(), columns, columns).Draw(t, "row")
			for x, held := range cells[y] {
				if held {
					j.Holds = append(j.Holds, Hold{Node: fmt.Sprint(y), From: at(float64(x)), To: at(float64(x + 1))})
				}
			}
		}
		s := cover(j, names, func(when time.Time) float64 { return when.Sub(begin).Seconds() })
		got, want := unitEdges(t, s.outline(0, 1)), dumbBorder(cells)
		if len(got) != len(want) {
			t.Fatalf("outline has %d units, the border %d", len(got), len(want))
		}
		for e := range want {
			if !got[e] {
				t.Fatalf("the border's %+v is not drawn", e)
			}
		}
	})
}

func TestTicksAreFewAndRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := time.Duration(rapid.Int64Range(1, int64(30*365*24*time.Hour)).Draw(t, "span"))
		at, every := ticks(whole)
		if len(at) == 0 || len(at) > 14 || at[0] != 0 || at[len(at)-1] > whole || at[len(at)-1] <= whole-every {
			t.Fatalf("ticks of %v every %v: %v", whole, every, at)
		}
	})
}

func TestLengthsOfTimeAreWrittenAsPeopleSayThem(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 300 * time.Millisecond: "0.3s", 59*time.Second + 400*time.Millisecond: "59s", 200 * time.Second: "3m20s",
		2 * time.Hour: "2h", 76*time.Hour + 59*time.Minute: "3d4h", -90 * time.Second: "-1m30s",
	} {
		if got := span(d); got != want {
			t.Errorf("%d ns is written %q, want %q", d, got, want)
		}
	}
}
