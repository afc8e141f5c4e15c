package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/core/policy"
	"accordion/internal/testenv"
)

// judged is the smallest log, whose figures the test computes again.
const judged = "KTH-SP2"

// ofTheRepository returns the content of a file of the repository.
func ofTheRepository(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section returns the part of docs/gains.md about one log: its tables, and its rows in the table of losses.
func section(page, name string) []string {
	var found []string
	inside := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "#") {
			inside = line == "### "+name+"\n"
		}
		if inside || strings.Contains(line, "` | "+name+" | ") {
			found = append(found, line)
		}
	}
	return found
}

// bars returns the lengths of a chart's bars in percent of the axis.
func bars(t *testing.T, svg string) map[string]float64 {
	t.Helper()
	number := func(text string) float64 {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	axis := regexp.MustCompile(`d="M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)" style="fill:none;stroke:#000000`).FindStringSubmatch(svg)
	names := regexp.MustCompile(`font-size:9px">([^<]*[^\d<][^<]*)</text>`).FindAllStringSubmatch(svg, -1)
	paths := regexp.MustCompile(`d="M([\d.]+),[\d.]+L[\d.]+,[\d.]+L([\d.]+),[\d.]+L[\d.]+,[\d.]+Z" style="fill:#0072B2"`).FindAllStringSubmatch(svg, -1)
	if axis == nil || len(names) != len(paths) || len(names) == 0 {
		t.Fatalf("the chart has the axis %q, %d names and %d bars", axis, len(names), len(paths))
	}
	found := map[string]float64{}
	for i, p := range paths {
		found[names[i][1]] = 100 * (number(p[2]) - number(p[1])) / (number(axis[3]) - number(axis[1]))
	}
	return found
}

// The test replays one log as `go run ./scripts/gains` does. The log's tables and losses in docs/gains.md, and its
// bar in the chart, must have the same figures.
func TestPublishedFiguresOfOneLogAreAsComputed(t *testing.T) {
	i := slices.IndexFunc(logs, func(l log) bool { return l.name == judged })
	t.Setenv("ACCORDION_TRACES", testenv.Logs(t, logs[i].file))
	out := filepath.Join(t.TempDir(), "gains.md")
	if err := run(t.Context(), judged, 3, "", out); err != nil {
		t.Fatal(err)
	}
	computed, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want := section(string(computed), judged)
	if len(want) < 20 {
		t.Fatalf("only %q was computed", want)
	}
	if diff := cmp.Diff(want, section(ofTheRepository(t, "docs/gains.md"), judged)); diff != "" {
		t.Errorf("docs/gains.md has other figures of %s (-computed +docs/gains.md):\n%s", judged, diff)
	}
	drawn, err := os.ReadFile(filepath.Join(filepath.Dir(out), "gains.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if want, got := bars(t, string(drawn))[judged], bars(t, ofTheRepository(t, "docs/gains.svg"))[judged]; math.Abs(want-got) > 0.05 {
		t.Errorf("docs/gains.svg has a bar of %.2f %% for %s, computed are %.2f %%", got, judged, want)
	}
}

// The sentence in the README, and the first sentence of docs/gains.md, must agree with the bars of docs/gains.svg.
func TestGainInReadmeEqualsTheChart(t *testing.T) {
	least, most, all := math.Inf(1), math.Inf(-1), bars(t, ofTheRepository(t, "docs/gains.svg"))
	for _, percent := range all {
		least, most = min(least, 100-percent), max(most, 100-percent)
	}
	inWords := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}[len(all)]
	const usual = "by its default, `repeated`, the cut is " // the words before the figures that are also in the README
	_, after, _ := strings.Cut(strings.Join(strings.Fields(ofTheRepository(t, "docs/gains.md")), " "), usual)
	cut, _, _ := strings.Cut(after, " on ")
	for file, want := range map[string][]string{
		"README.md": {
			"uses the policy `" + policy.Default + "`", "cuts the mean wait by " + cut + " on five",
			fmt.Sprintf("the mean wait of all jobs falls by %.0f to %.0f %%", least, most), inWords + " real workload logs", fmt.Sprintf("the policy `%s`", headlinePolicy),
			fmt.Sprintf("%d %% of the jobs", headlineShare), fmt.Sprintf("![Chart for %s logs:", inWords), "](docs/gains.svg)",
		},
		"docs/gains.md": {usual, fmt.Sprintf("cuts the mean wait of all jobs by %.0f to %.0f %% on %d real logs (", least, most, len(all))},
	} {
		text := strings.Join(strings.Fields(ofTheRepository(t, file)), " ")
		for _, words := range want {
			if !strings.Contains(text, words) {
				t.Errorf("%s does not say %q", file, words)
			}
		}
	}
}

func TestBarsAreReadAsTheyWereDrawn(t *testing.T) {
	all := append(cases("KTH-SP2", 1), cases("Curie", 1)...)
	for i := range all {
		for p := range policies {
			all[i].Metrics[p] = with(100, 100)
		}
		if all[i].Log == "Curie" {
			all[i].Metrics[5] = with(25, 25)
		}
	}
	var svg bytes.Buffer
	if err := drawHeadlines(&svg, all); err != nil {
		t.Fatal(err)
	}
	found := bars(t, svg.String())
	if len(found) != 2 || math.Abs(found["KTH-SP2"]-100) > 0.05 || math.Abs(found["Curie"]-25) > 0.05 {
		t.Errorf("the bars are read as %v, want 100 for KTH-SP2 and 25 for Curie", found)
	}
}
