package render

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"accordion/core"
	"accordion/traces/advise"
)

const hour = 3600

// again returns runs of one job with these stages, whose durations vary a little. The last run is much longer than the others.
func again(user, name string, held, runs int, stages core.EP) []advise.Run {
	var all []advise.Run
	for k := range runs {
		start := core.Time(k*20) * hour
		r := advise.Run{ID: fmt.Sprint(len(name)*1000 + k), User: user, Account: "phys", Partition: "main", Name: fmt.Sprintf("%s_%d", name, k),
			Submit: start, Start: start, Requested: held, Held: held, Completed: true}
		at := start
		for i, s := range stages {
			d := s.Duration * core.Time(96+(k*7+i*3)%9) / 100
			if k == runs-1 {
				d = d * 3 / 2
			}
			step := advise.Step{Name: fmt.Sprintf("stage %d of %s", i+1, name), From: at, To: at + d}
			for n := range s.Nodes {
				step.Nodes = append(step.Nodes, int32(n))
			}
			r.Steps = append(r.Steps, step)
			at += d
		}
		r.End = at
		all = append(all, r)
	}
	return all
}

// onSizes returns runs of one job on several sizes that follow Amdahl's law, and runs on one larger size that are not faster.
func onSizes(user, name string) []advise.Run {
	var all []advise.Run
	for k := range 6 {
		for _, n := range []int{1, 2, 4, 8, 16, 64} {
			took := core.Time(8*hour*(0.06+0.94/float64(n))) + core.Time(120*(k%3))
			if n == 64 {
				took = 2 * hour
			}
			start := core.Time(k*100+n) * hour
			all = append(all, advise.Run{ID: fmt.Sprint(90000 + len(all)), User: user, Name: name, Start: start, End: start + took, Requested: n, Held: n, Completed: true, Script: -1})
		}
	}
	return all
}

// site returns the page of a small site's month, with all sections.
func site() *Page {
	var runs []advise.Run
	runs = append(runs, again("ada", "mesh", 16, 12, core.EP{{Duration: 1500, Nodes: 2}, {Duration: 4800, Nodes: 16}, {Duration: 1800, Nodes: 1}})...)
	runs = append(runs, again("bob", "half", 8, 9, core.EP{{Duration: 3 * hour, Nodes: 4}})...)
	runs = append(runs, again("eve", "climate_ensemble", 64, 20, core.EP{{Duration: 600, Nodes: 1}, {Duration: hour, Nodes: 64}, {Duration: 900, Nodes: 8}, {Duration: hour, Nodes: 48}, {Duration: 2400, Nodes: 1}})...)
	runs = append(runs, again("dan", "search", 8, 5, core.EP{{Duration: hour, Nodes: 8}, {Duration: hour, Nodes: 1}})...)
	runs = append(runs, again("dan", "search", 8, 4, core.EP{{Duration: hour, Nodes: 1}, {Duration: hour, Nodes: 6}, {Duration: hour, Nodes: 2}})...)
	for k := range 3 { // no sequence of sizes has enough runs
		stages := core.EP{{Duration: hour, Nodes: 8}, {Duration: hour, Nodes: 1}, {Duration: hour, Nodes: 6}, {Duration: hour, Nodes: 2}}
		runs = append(runs, again("gil", "walk", 8, 2, stages[:k+2])...)
	}
	runs = append(runs, onSizes("eve", "cfd")...)
	runs = append(runs, again("fay", "rigid", 4, 8, core.EP{{Duration: 2 * hour, Nodes: 4}})...)
	p := pageOf(runs)
	p.WhatIf = &WhatIf{
		Losses:  []string{"Others would lose in the mean: under patient with the lines they wait 7m31s longer, than as it was."},
		Smaller: []string{"Those that tell gain in the mean: under patient with the lines they wait 2h less, than as it was."},
		About:   "What if 46 jobs of 91 had told more, on 64 nodes?", Head: []string{"mean wait", "node-hours"},
		Groups: []Supposed{{"46 that tell", []Case{{"easy, as it was", false, []string{"6h3m", "42726"}}, {"patient, with the lines", false, []string{"−26.4 % (−36.5 to −17.7)", "="}},
			{"what the lines add", true, []string{"−28.9 % (−37.3 to −22.1)", "="}}}}, {"45 others", []Case{{"easy, as it was", false, []string{"3h57m", "2257"}}}}},
		Notes: []string{"In percent of easy as it was."},
	}
	return p
}

func pageOf(runs []advise.Run) *Page {
	o := advise.Options{}
	report := advise.Make(runs, o)
	return &Page{Title: "Who would gain here?", Note: fmt.Sprintf("30 days, %d jobs", len(runs)), Report: &report, Runs: runs, Options: o,
		Missing: []string{"Nothing is known from 2026-01-03 00:00 to 2026-01-04 00:00: the database was away."}, Notes: []Note{{"Command", "accordion advise --html page.html"}}}
}

func written(t *testing.T, p *Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPageHasAllAdvice(t *testing.T) {
	p := site()
	text := written(t, p)
	for _, a := range p.Report.Advice {
		if a.Line != "" && !strings.Contains(text, a.Line) {
			t.Errorf("%s of %s is nowhere on the page", a.Line, a.Name)
		}
		if a.Why != "" && !strings.Contains(text, a.Why) {
			t.Errorf("why %s is left alone is nowhere on the page: %s", a.Name, a.Why)
		}
	}
	for _, want := range append([]string{"5 of 9 runs, those on 8, 1 nodes, one after the other", p.Report.Sizes[0].Line, "not on 64 nodes, where it was no faster", "<b>8 jobs</b> use what they hold", "accordion advise --html page.html"}, p.Missing...) {
		if !strings.Contains(text, want) {
			t.Errorf("%q is nowhere on the page", want)
		}
	}
	if got, want := strings.Count(text, `<path class="run`), 12+9+20+9+6; got != want {
		t.Errorf("%d runs are drawn, want %d", got, want)
	}
	if got := strings.Count(text, `<path class="run late"`); got != 4 {
		t.Errorf("%d runs are drawn as late, want the last of each evolving sequence", got)
	}
}

// The page shows the jobs that would lose before it shows what would be saved.
func TestWhatIfIsFirst(t *testing.T) {
	p := site()
	text := written(t, p)
	at := 0
	for _, want := range []string{`id="lead"`, `losses"><li>` + p.WhatIf.Losses[0], `smaller"><li>` + p.WhatIf.Smaller[0], "<td>6h3m</td><td>42726</td>", `<tr class="part"><th scope="row">what the lines add</th>`, "45 others", p.WhatIf.Notes[0], `id="balance"`} {
		found := strings.Index(text[at:], want)
		if found < 0 {
			t.Fatalf("%q does not come next on the page", want)
		}
		at += found
	}
	depends := "whether anybody waits for less depends on the queue"
	if strings.Contains(text, depends) {
		t.Error("what was replayed is said not to be known")
	}
	p.WhatIf = nil
	if text = written(t, p); strings.Contains(text, `id="whatif"`) || !strings.Contains(text, depends) {
		t.Error("the page has a what-if section that was not asked for")
	}
}

// Names of jobs and programs are escaped.
func TestHostileNamesAreText(t *testing.T) {
	for _, name := range hostile {
		runs := again(name, name, 16, 12, core.EP{{Duration: 1500, Nodes: 2}, {Duration: 4800, Nodes: 16}})
		runs = append(runs, onSizes(name, name)...)
		text := written(t, pageOf(runs))
		for _, bad := range []string{"<script", "<img", "<iframe", "</style><"} {
			if strings.Contains(text, bad) {
				t.Errorf("a job named %q brings %q into the page", name, bad)
			}
		}
		if strings.Contains(text, strings.Repeat("a", 200)) {
			t.Error("a name of thousands of characters is not cut")
		}
	}
}

var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=http://elsewhere/x onerror=alert(2)>`, `</style><iframe src="http://elsewhere/">`, `' onload=alert(3) '`,
	"\x1b[2J\x00\xff\u202eevil", strings.Repeat("a", 5000), `{{.}} {{template "chart"}}`, `</title><script>alert(4)</script>`, "x|y\nz",
}

// The page of a log or of OAR's tables, which have no steps, does not claim that no profile would have saved anything.
func TestPageWithSizesOnly(t *testing.T) {
	text := written(t, pageOf(onSizes("eve", "cfd")))
	if !strings.Contains(text, "<b>1 job</b> of those read was run on several sizes") || strings.Contains(text, "No profile would have saved") || !strings.Contains(text, "<b>36 jobs</b> have no steps in what was read") {
		t.Error(text)
	}
}

func TestPageWithoutRuns(t *testing.T) {
	text := written(t, pageOf(nil))
	if !strings.Contains(text, "No profile would have saved a twentieth") || strings.Contains(text, "NaN") {
		t.Error("the page of no jobs says nothing, or NaN")
	}
}

func TestLongTableIsCut(t *testing.T) {
	var runs []advise.Run
	for i := range mostDrawn + mostRows + 3 {
		runs = append(runs, again("ada", "job"+strings.Repeat("x", i), 4, 3, core.EP{{Duration: hour, Nodes: 1}, {Duration: hour, Nodes: 4}})...)
	}
	text := written(t, pageOf(runs))
	if got := strings.Count(text, `<figure`); got != mostDrawn {
		t.Errorf("%d groups are drawn, want %d", got, mostDrawn)
	}
	if !strings.Contains(text, "… and 3 more") {
		t.Error("the page does not say that lines are left out")
	}
}

type broken struct{}

var errBroken = errors.New("the disk is full")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteErrorIsReturned(t *testing.T) {
	if err := site().Write(broken{}); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "Who would gain here?") {
		t.Errorf("the error is %v", err)
	}
}
