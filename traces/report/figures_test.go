package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/core"
	"accordion/traces/replay"

	"pgregory.net/rapid"
)

// figureFiles returns a report's figures by file name. It draws only figures whose file names have one of the
// suffixes.
func figureFiles(t *testing.T, r *Report, suffixes ...string) map[string][]byte {
	t.Helper()
	figures, err := r.Figures()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range figures {
		if files[f.File] != nil {
			t.Errorf("two figures are called %s", f.File)
		}
		var b bytes.Buffer
		if !slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(f.File, s) }) {
			files[f.File] = []byte{}
			continue
		}
		if err := f.Write(&b); err != nil {
			t.Fatalf("%s: %v", f.File, err)
		}
		files[f.File] = b.Bytes()
	}
	return files
}

// elements returns the number of elements of an SVG by name. The test fails if the SVG is not well-formed.
func elements(t *testing.T, name string, svg []byte) map[string]int {
	t.Helper()
	count := map[string]int{}
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatalf("%s is not well-formed: %v", name, err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
}

func TestEveryFigureIsAnSVGAndAPNG(t *testing.T) {
	r := two()
	r.Replays[0].Result.Policy = `../<&"`
	r.Replays[1].Result.Policy = `../<&'`
	files := figureFiles(t, r, ".svg", "load.png", "-2.png")
	var names []string
	for name, content := range files {
		names = append(names, name)
		switch ext := filepath.Ext(name); {
		case len(content) == 0:
		case ext == ".svg":
			if elements(t, name, content)["svg"] != 1 {
				t.Errorf("%s has not one drawing", name)
			}
		case ext == ".png":
			if _, err := png.Decode(bytes.NewReader(content)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	slices.Sort(names)
	want := "gantt--------2.png gantt--------2.svg gantt-------.png gantt-------.svg load.png load.svg queue.png queue.svg " +
		"slowdown-by-length.png slowdown-by-length.svg slowdown-by-size.png slowdown-by-size.svg slowdown.png slowdown.svg " +
		"wait-by-length.png wait-by-length.svg wait-by-size.png wait-by-size.svg wait.png wait.svg"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("figures are\n%s, want\n%s", got, want)
	}
}

// strokes returns the vertical range of the lines of each color.
func strokes(t *testing.T, svg []byte) map[string][2]float64 {
	t.Helper()
	all := map[string][2]float64{}
	for _, path := range regexp.MustCompile(`<path d="([^"]*)"[^>]*stroke:(#[0-9A-F]{6})`).FindAllSubmatch(svg, -1) {
		low, high := math.Inf(1), math.Inf(-1)
		for _, y := range regexp.MustCompile(`,([0-9.]+)`).FindAllSubmatch(path[1], -1) {
			v, err := strconv.ParseFloat(string(y[1]), 64)
			if err != nil {
				t.Fatal(err)
			}
			low, high = min(low, v), max(high, v)
		}
		all[string(path[2])] = [2]float64{low, high}
	}
	return all
}

// Policies hold nearly the same nodes over time. In one panel only the last line would be visible.
func TestEachPolicyHasItsOwnPanelOverTime(t *testing.T) {
	files := figureFiles(t, made(t, 200, 3, 2, "easy", "easy-evolving", "patient"), "load.svg", "queue.svg")
	for _, name := range []string{"load.svg", "queue.svg"} {
		lines := strokes(t, files[name])
		var before [2]float64
		for i, policy := range []string{"easy", "easy-evolving", "patient"} {
			if !bytes.Contains(files[name], []byte(">"+policy+"<")) {
				t.Errorf("%s does not name %s", name, policy)
			}
			c := colourOf(i)
			line, drawn := lines[fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B)]
			if !drawn || line[1]-line[0] < 20 {
				t.Errorf("%s draws %s from %.0f to %.0f", name, policy, line[0], line[1])
			}
			if i > 0 && line[1] >= before[0] {
				t.Errorf("%s draws %s from %.0f to %.0f, over the policy before, from %.0f on", name, policy, line[0], line[1], before[0])
			}
			before = line
		}
	}
}

func TestSmallGanttFigureHasAPathForEachJob(t *testing.T) {
	few := elements(t, "few", figureFiles(t, made(t, 50, 3, 1, "easy"), "easy.svg")["gantt-easy.svg"])
	if few["title"] != 50 || few["image"] != 0 {
		t.Errorf("50 jobs have %d paths with a title and %d pictures", few["title"], few["image"])
	}
	r := two()
	for len(r.Replays[0].Held[0]) <= crisp { // stretches without length take no pixels
		r.Replays[0].Held[0] = append(r.Replays[0].Held[0], replay.Stretch{From: 50, To: 50, Nodes: []replay.Span{{First: 2, Last: 2}}})
	}
	var b bytes.Buffer
	if err := r.ganttSVG(&b, 0); err != nil {
		t.Fatal(err)
	}
	if many := elements(t, "many", b.Bytes()); many["image"] != 1 || many["title"] != 0 {
		t.Errorf("%d rectangles have %d paths with a title and %d pictures", crisp+1, many["title"], many["image"])
	}
}

func TestFiguresOfUnusualReports(t *testing.T) {
	for name, r := range unusual() {
		t.Run(name, func(t *testing.T) {
			for file, svg := range figureFiles(t, r, ".svg") {
				if strings.HasSuffix(file, ".svg") {
					elements(t, file, svg)
				}
			}
		})
	}
}

func TestMeansOverTimeEqualACountOfEverySecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const from, stretches, width = -7, 6, 5
		counts := make([]int, stretches*width)
		var changes []change
		for range rapid.IntRange(0, 12).Draw(t, "spans") {
			begin := rapid.IntRange(from-3, from+stretches*width).Draw(t, "begin")
			end := rapid.IntRange(begin, from+stretches*width+3).Draw(t, "end")
			changes = append(changes, change{core.Time(begin), 1}, change{core.Time(end), -1})
			for s := max(begin, from); s < min(end, from+len(counts)); s++ {
				counts[s-from]++
			}
		}
		for i, got := range means(changes, from, from+stretches*width, stretches) {
			want := 0.0
			for _, c := range counts[i*width : (i+1)*width] {
				want += float64(c) / width
			}
			if math.Abs(got-want) > 1e-9 {
				t.Fatalf("mean of stretch %d is %v, want %v", i, got, want)
			}
		}
	})
}

// An image of any size shows all that was held: nothing is lost below a pixel.
func TestRasterShowsAllThatWasHeld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wide, high := rapid.IntRange(1, 9).Draw(t, "wide"), rapid.IntRange(1, 9).Draw(t, "high")
		r := newRaster(wide, high)
		x0 := rapid.Float64Range(-2, 10).Draw(t, "x0")
		y0 := rapid.Float64Range(-2, 10).Draw(t, "y0")
		x1, y1 := x0+rapid.Float64Range(0, 5).Draw(t, "w"), y0+rapid.Float64Range(0, 5).Draw(t, "h")
		r.cover(x0, x1, y0, y1, kindColour[0])
		sum := 0.0
		for i := 3; i < len(r.sums); i += 4 {
			sum += float64(r.sums[i])
		}
		seen := func(a, b float64, most int) float64 { return max(0, min(b, float64(most))-max(a, 0)) }
		if want := seen(x0, x1, wide) * seen(y0, y1, high); math.Abs(sum-want) > 1e-4 {
			t.Fatalf("%v pixels are covered, want %v", sum, want)
		}
	})
}

func TestTimeMarksAreFewAndRound(t *testing.T) {
	begin := time.Date(2006, 11, 3, 8, 17, 5, 0, time.FixedZone("", -7*3600))
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Int64Range(-1e6, 1e9).Draw(t, "from")
		to := from + int64(math.Exp(rapid.Float64Range(math.Log(60), math.Log(3e9)).Draw(t, "log of the length")))
		for _, known := range []time.Time{{}, begin} {
			all := marks(from, to, known)
			if len(all) > 14 {
				t.Fatalf("%d marks between %d and %d", len(all), from, to)
			}
			for i, m := range all {
				if m.at < from || m.at > to || i > 0 && m.at <= all[i-1].at {
					t.Fatalf("mark %d of %d…%d is at %d", i, from, to, m.at)
				}
				local := known.Add(time.Duration(m.at) * time.Second)
				if to-from > 20*86400 && !known.IsZero() && (local.Hour() != 0 || local.Minute() != 0) {
					t.Fatalf("mark %q of %d s stands at %v", m.text, to-from, local)
				}
			}
		}
	})
}
