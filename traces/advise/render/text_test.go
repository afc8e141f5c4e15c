package render

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/core"
	"accordion/traces/advise"
)

// meshRuns returns six runs of a job that uses 2, 16 and 1 of its 16 nodes.
func meshRuns() []advise.Run {
	return again("ada", "mesh", 16, 6, core.EP{{Duration: 1500, Nodes: 2}, {Duration: 4800, Nodes: 16}, {Duration: 1800, Nodes: 1}})
}

// nonempty returns the nonempty lines of a text without the table's rules.
func nonempty(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.Trim(l, "─┼ ") == "" })
}

func TestTextOfAReport(t *testing.T) {
	runs := slices.Concat(meshRuns(), again("bob", "mesh", 16, 2, core.EP{{Duration: 3600, Nodes: 4}}))
	report := advise.Make(runs, advise.Options{})
	want := []string{
		" user │ job    │ nodes │ runs │ example │ on time │ node-hours saved │ of held │ line                     ",
		"      │        │       │      │         │         │          a month │         │                          ",
		" ada  │ mesh_# │    16 │    6 │    4003 │  1 of 2 │              604 │    37 % │ #EP 2x29m,16x1h32m,1x34m ",
		"In 4 days 8 jobs held 274 node-hours. With 1 line, of 1 user, it would have been 86.7 less (32 %).",
		"On time: of the last third of the runs, which the line was not made of. Where a line begins a step, the script says `accordion step`:",
		"`accordion advise JOB` tells between which programs.",
		"Of the others 2 are run too seldom (--runs).",
	}
	if diff := cmp.Diff(want, nonempty(Text(&report, &Input{Runs: runs}, 10))); diff != "" {
		t.Errorf("the text differs (-want +got):\n%s", diff)
	}
}

func TestSummaryDependsOnTheSource(t *testing.T) {
	runs := onSizes("eve", "cfd")
	report := advise.Make(runs, advise.Options{})
	for source, want := range map[Source]string{
		OAR:        "Of the others 36 are known to OAR by their nodes and times alone.\n",
		Accounting: "Of the others 36 start nothing with srun.\n",
		Log:        "Of 36 jobs 36 are runs of 1 program, each on several sizes.\nA workload log knows sizes and times: not what steps a job had (so there is no #EP), nor what its input was.\n",
		UnnamedLog: "Look twice at its lines.\n",
	} {
		if got := Text(&report, &Input{Runs: runs, Source: source}, 10); !strings.HasSuffix(got, want) {
			t.Errorf("source %d: %q does not end in %q", source, got, want)
		}
	}
}

func TestExplainDrawsTheProfileAndTheScript(t *testing.T) {
	runs := meshRuns()
	got := Explain(runs, &runs[0], advise.Options{})
	for _, want := range []string{
		"Job 4000, mesh_0 of ada, held 16 nodes for 2h13m48s: 35.7 node-hours.\nIts steps used 2, 16 and 1:\n",
		"    eval \"$(accordion step)\" || exit    # from 2 to 16 nodes\n    srun … stage 2 of mesh              # 16 nodes\n",
		"\nIts like was run 6 times (mesh_# of ada on 16 nodes). The line for all was made of the first 4; 1 of the last 2 would have been on time with it:\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
}

func TestJSONOfAReport(t *testing.T) {
	runs := meshRuns()
	report := advise.Make(runs, advise.Options{})
	in := &Input{Runs: runs, Gaps: []Gap{{From: 1, Until: 2, Why: errors.New("the database was away")}}, LeftOut: LeftOut{Unfinished: 3, Cut: true}}
	var b strings.Builder
	if err := JSON(&b, &report, in, nil); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Jobs   int
		Advice []struct {
			Line       string
			Boundaries []struct{ Before string }
		}
		Missing []gapJSON
		LeftOut LeftOut         `json:"left_out"`
		WhatIf  json.RawMessage `json:"what_if"`
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Jobs != 6 || len(got.Advice) != 1 || got.Advice[0].Line != report.Advice[0].Line || len(got.Advice[0].Boundaries) != 2 || got.Advice[0].Boundaries[0].Before != "stage 2 of mesh" || got.WhatIf != nil {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]gapJSON{{1, 2, "the database was away"}}, got.Missing); diff != "" {
		t.Errorf("gaps differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(in.LeftOut, got.LeftOut); diff != "" {
		t.Errorf("left out differs (-want +got):\n%s", diff)
	}
}
