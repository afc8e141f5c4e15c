package sacct

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"accordion/core"
	"accordion/slurm/output"
	"accordion/traces/advise"

	"github.com/google/go-cmp/cmp"
)

var stepNames = strings.ReplaceAll(stepsWanted, ",", "|") + "|JobName\n"

// formatRuns formats runs as: id user name @submit start-end requested/held script, followed by the steps.
func formatRuns(all []advise.Run) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "%s %s %s @%d %d-%d %d/%d script %d completed %v:", r.ID, r.User, r.Name, r.Submit, r.Start, r.End, r.Requested, r.Held, r.Script, r.Completed)
		for _, s := range r.Steps {
			fmt.Fprintf(&b, " %s %d-%d %v", s.Name, s.From, s.To, s.Nodes)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func read(t *testing.T, text string) *Runs {
	t.Helper()
	runs := NewRuns()
	if err := runs.Read(strings.NewReader(text), "a.txt", time.UTC, 0, 0); err != nil {
		t.Fatal(err)
	}
	return runs
}

const staged = `7|7|100|110|170|COMPLETED|3|n[1-3]|ada|phys|main|mesh 1
7.batch|7.batch|110|110|170|COMPLETED|1|n1||phys||batch
7.extern|7.extern|110|110|170|COMPLETED|3|n[1-3]||phys||extern
7.0|7.0|111|111|130|COMPLETED|2|n[1-2]||phys||prepare
7.1|7.1|131|131|160|CANCELLED by 1000|3|n[1-3]||phys||solve
`

func TestAJobHasTheStepsThatSrunStarted(t *testing.T) {
	runs := read(t, stepNames+staged)
	want := "7 ada mesh 1 @100 110-170 3/3 script 0 completed true: prepare 111-130 [0 1] solve 131-160 [0 1 2]\n"
	if diff := cmp.Diff(want, formatRuns(runs.All)); diff != "" || !cmp.Equal(runs.Left, LeftUnread{}) {
		t.Errorf("%+v (-want +got):\n%s", runs.Left, diff)
	}
}

func TestALimitIsReadWhereThereIsOne(t *testing.T) {
	names := strings.ReplaceAll(StepColumns, ",", "|") + "\n"
	for text, want := range map[string]core.Time{
		names + "9|9|1|2|5|COMPLETED|1|n1|a|p|m|90|x":                90 * 60,
		names + "9|9|1|2|5|COMPLETED|1|n1|a|p|m|UNLIMITED|x":         0,
		names + "9|9|1|2|5|COMPLETED|1|n1|a|p|m|Partition_Limit|x|y": 0,
		stepNames + "9|9|1|2|5|COMPLETED|1|n1|a|p|m|x":               0,
	} {
		if runs := read(t, text+"\n"); len(runs.All) != 1 || runs.All[0].Limit != want {
			t.Errorf("%q: %+v", text, runs.All)
		}
	}
}

func TestJobsThatAreNoRunsAreCounted(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       LeftUnread
		runs       int
	}{
		{"it runs still", "8|8|1|2|Unknown|RUNNING|1|n1|a|p|m|x\n8.0|8.0|2|2|Unknown|RUNNING|1|n1||p||y\n", LeftUnread{Unfinished: 1}, 0},
		{"it waits", "8|8|1|Unknown|Unknown|PENDING|1|None assigned|a|p|m|x\n", LeftUnread{Unfinished: 1}, 0},
		{"it was cancelled before", "8|8|1|Unknown|9|CANCELLED by 0|1|None assigned|a|p|m|x\n", LeftUnread{NeverBegan: 1}, 0},
		{"its rows are sizes", "8|8|1|2|5|RESIZING|1|n1|a|p|m|x\n8|8|5|5|9|COMPLETED|2|n[1-2]|a|p|m|x\n", LeftUnread{Resized: 2}, 0},
		{"an expander", "8|8|1|2|5|COMPLETED|1|n1|a|p|m|" + output.GrowPrefix + "7\n", LeftUnread{Companions: 1}, 0},
		{"heterogeneous", "8|8+0|1|2|5|COMPLETED|1|n1|a|p|m|x\n9|8+1|1|2|5|COMPLETED|1|n2|a|p|m|x\n8+0.0|8+0.0|2|2|5|COMPLETED|1|n1||p||y\n", LeftUnread{Hetero: 2}, 0},
		{"it ended before it began", "8|8|1|20|5|COMPLETED|1|n1|a|p|m|x\n", LeftUnread{Broken: 1}, 0},
		{"a step of another life", "8|8|1|200|500|COMPLETED|1|n1|a|p|m|x\n8.0|8.0|2|2|5|COMPLETED|1|n1||p||y\n", LeftUnread{Broken: 1}, 0},
		{"an array", "9|8_1|1|2|5|COMPLETED|1|n1|a|p|m|x\n10|8_2|1|2|5|COMPLETED|1|n1|a|p|m|x\n", LeftUnread{}, 2},
		{"texts one behind the other", staged + stepNames + "9|9|1|2|5|COMPLETED|1|n1|a|p|m|x|y\n", LeftUnread{}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			runs := read(t, stepNames+c.text)
			if diff := cmp.Diff(c.want, runs.Left); diff != "" || len(runs.All) != c.runs {
				t.Errorf("%d runs (-want +got):\n%s", len(runs.All), diff)
			}
		})
	}
}

func TestAJobThatWasRequeuedHasTheStepsOfItsOwnLife(t *testing.T) {
	runs := read(t, stepNames+`8|8|1|10|20|REQUEUED|2|n[1-2]|a|p|m|x
8.batch|8.batch|10|10|20|CANCELLED|1|n1||p||batch
8.0|8.0|11|11|20|CANCELLED|2|n[1-2]||p||first
8|8|1|40|60|COMPLETED|2|n[3-4]|a|p|m|x
8.batch|8.batch|40|40|60|COMPLETED|1|n3||p||batch
8.0|8.0|41|41|Unknown|COMPLETED|2|n[3-4]||p||second
`)
	want := `8 a x @1 10-20 2/2 script 0 completed false: first 11-20 [0 1]
8 a x @1 40-60 2/2 script 2 completed true: second 41-60 [2 3]
`
	if diff := cmp.Diff(want, formatRuns(runs.All)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestALineThatCannotBeReadCostsItsJobOnly(t *testing.T) {
	good := "9|9|1|2|5|COMPLETED|1|n1|a|p|m|x\n"
	for _, c := range []struct {
		name, text string
		runs       int
		first      string // the first error
		cut        bool
	}{
		{"a name with a line's end in it", good + "8|8|1|2|5|COMPLETED|1|n1|a|p|m|evil\nname\n", 2, "a.txt:4: one field for 12 columns: the rest of a JobName with a line end in it, or no row", false},
		{"a line of one job between those of another", good + staged + "9|soon\n7.2|7.2|162|165|165|COMPLETED|2|n[1-2]||phys||last\n", 1, "a.txt:8: 2 fields for 12 columns", false},
		{"no number of a job", good + "x|8|1|2|5|COMPLETED|1|n1|a|p|m|x\n7|7|1|2|5|COMPLETED|1|n1|a|p|m|x\n", 1, `a.txt:3: JobIDRaw: "x" is no job id, nor that of a step such as 123.0`, false},
		{"no time", good + "8|8|1|soon|5|COMPLETED|1|n1|a|p|m|x\n7|7|1|2|5|COMPLETED|1|n1|a|p|m|x\n", 2, `a.txt:3: Start: "soon" is no time; want Unix seconds (SLURM_TIME_FORMAT=%s), or 2026-01-31T12:00:00`, false},
		{"no nodes", good + "8|8|1|2|5|COMPLETED|1|n[1-|a|p|m|x\n7|7|1|2|5|COMPLETED|1|n1|a|p|m|x\n", 2, "", false},
		{"a step's line is cut", good + staged + "7.2|7.2|160|16", 1, "a.txt:8: 4 fields for 12 columns", true},
		{"cut within the last name", good + strings.TrimSuffix(staged, "ve\n"), 1, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			runs := read(t, stepNames+c.text)
			first := ""
			if runs.Left.Lines.Count > 0 {
				first = runs.Left.Lines.First[0].Error()
			}
			if len(runs.All) != c.runs || runs.Left.Cut != c.cut || c.first != "" && first != c.first {
				t.Errorf("%s%d broken, cut %v, first: %s", formatRuns(runs.All), runs.Left.Broken, runs.Left.Cut, first)
			}
		})
	}
}

func TestNamesAreMadePrintable(t *testing.T) {
	runs := read(t, stepNames+"9|9|1|2|5|COMPLETED|1|n1|a|p|m|\x1b[31mred\xff\u202e\n")
	if got := runs.All[0].Name; got != "?[31mred??" {
		t.Errorf("the name is %q", got)
	}
}

func TestOtherTextIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":           "a.txt:1: no text; want what this prints: " + StepCommand,
		"JobID|x\n":  `a.txt:1: no column JobIDRaw in "JobID|x"; want what this prints: ` + StepCommand,
		"\x00\x01\n": `a.txt:1: no column JobIDRaw in "\x00\x01"; want what this prints: ` + StepCommand,
	} {
		err := NewRuns().Read(strings.NewReader(text), "a.txt", time.UTC, 0, 0)
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// FuzzRuns checks that the runs of any text are valid input for `accordion advise` and have printable names.
func FuzzRuns(f *testing.F) {
	f.Add(stepNames + staged)
	f.Add(stepNames + staged[:len(staged)-20])
	f.Add(stepNames + "8|8_1|1|2|Unknown|RUNNING|1|n[1-3]|a|p|m|x\n8.0|8.0|-5|9999|2|FAILED|1|n1||p||\x1b\n")
	f.Fuzz(func(t *testing.T, text string) {
		runs := NewRuns()
		if runs.Read(strings.NewReader(text), "a.txt", time.UTC, 0, 0) != nil {
			return
		}
		for i := range runs.All {
			r := &runs.All[i]
			if r.End < r.Start || r.Held < 1 || strings.ContainsAny(r.Name+r.User+r.ID, "\x1b\n\r\x00") {
				t.Fatalf("no run: %+v", r)
			}
		}
		advise.Make(runs.All, advise.Options{Runs: 1})
	})
}

func TestADayIsAskedForAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		var begun []time.Duration
		start := time.Now()
		ask := Query{From: 1795305600, Until: 1795305600 + 2*Slice + 3600, User: "ada", Sacct: func(_ context.Context, arguments []string) (string, error) {
			asked = append(asked, strings.Join(arguments[4:6], " ")+" "+arguments[0])
			begun = append(begun, time.Since(start))
			time.Sleep(10 * time.Second)
			id, from := len(asked), 1795305600+core.Time(len(asked)-1)*Slice
			return stepNames + fmt.Sprintf("%d|%d|%d|%d|%d|COMPLETED|1|n1|ada|p|m|x\n", id, id, from-50, from-9, from+60) +
				fmt.Sprintf("90|90|%d|%d|%d|COMPLETED|1|n1|ada|p|m|long\n", from-9, from-8, 1795305600+2*Slice), nil
		}}
		runs := NewRuns()
		gaps, err := ask.ReadInto(t.Context(), runs)
		if err != nil || gaps != nil {
			t.Fatal(gaps, err)
		}
		want := []string{"--starttime=2026-11-22T00:00:00 --endtime=2026-11-23T00:00:00 --user=ada", "--starttime=2026-11-23T00:00:00 --endtime=2026-11-24T00:00:00 --user=ada",
			"--starttime=2026-11-24T00:00:00 --endtime=2026-11-24T01:00:00 --user=ada"}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if diff := cmp.Diff([]time.Duration{0, 20 * time.Second, 40 * time.Second}, begun); diff != "" {
			t.Errorf("it does not wait as long as the answer says:\n%s", diff)
		}
		if len(runs.All) != 4 {
			t.Errorf("%d runs, want one a day and the long one once:\n%s", len(runs.All), formatRuns(runs.All))
		}
	})
}

func TestSacctThatFailsInTheMiddleLeavesAGap(t *testing.T) {
	for _, c := range []struct {
		answers string // the results of the calls for each day, in order: . succeeds, x fails
		gaps    []core.Time
		err     bool
	}{
		{"....", nil, false},
		{".x..", []core.Time{1}, false},
		{".xxx..", []core.Time{1, 1, 1, 2}, false},
		{"xxxx", []core.Time{1, 1, 1, 1}, true},
		{"x", []core.Time{1}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			broken := errors.New("the database is away")
			day := 0
			ask := Query{From: Slice, Until: Slice * core.Time(1+len(c.answers)), Sacct: func(context.Context, []string) (string, error) {
				day++
				if c.answers[day-1] == 'x' {
					return "", broken
				}
				return stepNames + fmt.Sprintf("9|9|1|2|%d|COMPLETED|1|n1|a|p|m|x\n", Slice*core.Time(day)+5), nil
			}}
			gaps, err := ask.ReadInto(t.Context(), NewRuns())
			if (err != nil) != c.err || err != nil && !errors.Is(err, broken) {
				t.Errorf("%s: %v", c.answers, err)
			}
			var days []core.Time
			for _, g := range gaps {
				days = append(days, (g.Until-g.From)/Slice)
			}
			if diff := cmp.Diff(c.gaps, days); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.answers, diff)
			}
		})
	}
}

func TestAskingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ask := Query{Until: 9 * Slice, Sacct: func(ctx context.Context, _ []string) (string, error) {
		cancel()
		return "", ctx.Err()
	}}
	if _, err := ask.ReadInto(ctx, NewRuns()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
