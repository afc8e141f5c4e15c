package oar_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/ep/eptest"
	"accordion/core/moldable"
	"accordion/internal/testenv"
	"accordion/oar"
)

// submission is what an oarsub passes to the admission rules.
type submission struct {
	Types       []string `json:"-"`
	Hex         []string `json:"types"`
	Queue       string   `json:"queue"`
	Requests    []any    `json:"requests"`
	Reservation string   `json:"reservation,omitempty"`
	Kind        string   `json:"kind,omitempty"`
	Properties  string   `json:"properties,omitempty"`
	Array       int      `json:"array,omitempty"`
	Name        string   `json:"name,omitempty"`
	Project     string   `json:"project,omitempty"`
	Command     string   `json:"command,omitempty"`
	Line        string   `json:"line,omitempty"` // oarsub's command line
}

// admitted is the result of the rules: refused with a message, or accepted with these types and requests.
type admitted struct {
	Said     string
	Warned   string // the message for the user of an accepted job
	Types    []string
	Requests []ask
}

// ask is one request of an accepted job, such as "network_address=2", with its walltime in seconds (0 if it has none).
type ask struct {
	Levels   string
	Walltime int64
}

// request returns one -l option in oarsub's parsed form. A walltime of 0 means that the option has no walltime.
func request(walltime int64, levels ...any) any {
	return propertied("", walltime, levels...)
}

func propertied(property string, walltime int64, levels ...any) any {
	group := map[string]any{}
	if property != "" {
		group["property"] = property
	}
	var list []map[string]any
	for i := 0; i < len(levels); i += 2 {
		list = append(list, map[string]any{"resource": levels[i], "value": levels[i+1]})
	}
	group["resources"] = list
	if walltime == 0 {
		return []any{[]any{group}}
	}
	return []any{[]any{group}, walltime}
}

// unsaid is the request that oarsub uses if there is no -l option.
var unsaid = request(0, "resource_id", 1)

// between stands for the rules of OAR and of the site that run between Accordion's rules. OAR's rule 16 does not know
// profiles.
const between = `
my @types = (qr/^container(?:=\w+)?$/, qr/^besteffort$/, qr/^idempotent$/, qr/^epilogue=\w+$/);
foreach my $t (@{$type_list}) {
    my $match = 0;
    foreach my $r (@types) { if ($t =~ $r) { $match = 1; } }
    unless ($match) { die("[ADMISSION RULE] Error: unknown job type: $t\n"); }
}
`

// submitTo passes submissions to Accordion's rules in a real Perl, with another rule between Accordion's rules. One process evaluates all
// submissions.
func submitTo(t testing.TB, rule string, nodes int, all []submission) []admitted {
	t.Helper()
	perl := testenv.Program(t, "perl")
	if err := exec.CommandContext(t.Context(), perl, "-MJSON::PP", "-e", "1").Run(); err != nil {
		testenv.Needs(t, testenv.Missing("perl", "it has no JSON::PP"))
	}
	dir := t.TempDir()
	ours := oar.RuleTexts("evolve")
	arguments := []string{"testdata/submit.pl", fmt.Sprint(nodes)}
	for i, text := range []string{ours[0], rule, ours[1]} {
		file := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, file)
	}
	var input, errs bytes.Buffer
	for _, s := range all {
		s.Hex = []string{}
		for _, name := range s.Types {
			s.Hex = append(s.Hex, hex.EncodeToString([]byte(name)))
		}
		if s.Requests == nil {
			s.Requests = []any{unsaid}
		}
		if err := json.NewEncoder(&input).Encode(s); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), perl, arguments...)
	c.Stdin, c.Stderr = &input, &errs
	out, err := c.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("perl: %v: %s", err, errs.String())
	}
	var results []admitted
	for line := range bytes.Lines(out) {
		results = append(results, readAdmitted(t, line))
	}
	if len(results) != len(all) {
		t.Fatalf("%d submissions gave %d answers", len(all), len(results))
	}
	return results
}

func readAdmitted(t testing.TB, line []byte) admitted {
	t.Helper()
	var raw struct {
		Said     string
		Warned   string
		Types    []string
		Requests [][]json.RawMessage
	}
	plain := func(digits string) string {
		text, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if err := json.Unmarshal(line, &raw); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	a := admitted{Said: plain(raw.Said), Warned: plain(raw.Warned)}
	for _, one := range raw.Types {
		a.Types = append(a.Types, plain(one))
	}
	for _, one := range raw.Requests {
		var groups []struct {
			Resources []struct {
				Resource string
				Value    int64
			}
		}
		if err := json.Unmarshal(one[0], &groups); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var levels []string
		for _, g := range groups {
			for _, l := range g.Resources {
				levels = append(levels, fmt.Sprintf("%s=%d", l.Resource, l.Value))
			}
		}
		asked := ask{Levels: strings.Join(levels, "/")}
		if len(one) > 1 {
			if err := json.Unmarshal(one[1], &asked.Walltime); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		a.Requests = append(a.Requests, asked)
	}
	return a
}

var seed = flag.Uint64("accordion.seed", 1, "seed of random texts of requests")

func TestTheRuleJudgesEveryProfileAsThePlannerDoes(t *testing.T) {
	judgeProfiles(t, eptest.Cases())
}

// Slurm's plug-in and `accordion ep check` are tested with the same texts.
func TestTheRuleJudgesTenThousandRandomTextsAsThePlannerDoes(t *testing.T) {
	taken, all := judgeProfiles(t, eptest.Random(*seed, 10_000, "ep"))
	t.Logf("-accordion.seed %d: %d of %d texts are taken", *seed, taken, all)
	if all != 10_000 || taken < all/5 || taken > all*4/5 {
		t.Errorf("%d of %d: the comparison covers too few texts", taken, all)
	}
}

// judgeProfiles passes texts with alternative profiles to the rules, and compares the result for each text with the result of package
// moldable. It returns how many texts the rules accepted, and how many it passed. It leaves out texts that are too long for OAR.
func judgeProfiles(t *testing.T, cases []eptest.Case) (taken, all int) {
	t.Helper()
	var texts []string
	var submissions []submission
	for _, c := range cases {
		if c.Word != "ep" || len(c.Text) > 190 {
			continue
		}
		s := submission{Queue: "evolve"}
		for i, profile := range strings.Split(c.Text, "|") {
			s.Types = append(s.Types, fmt.Sprintf("ep%d=%s", i+1, profile))
		}
		texts, submissions = append(texts, c.Text), append(submissions, s)
	}
	for i, got := range submitTo(t, between, 1_000_000, submissions) {
		text := texts[i]
		choices, err := moldable.ParseProfiles(text)
		if err != nil {
			checkRefused(t, text, got.Said)
			continue
		}
		taken++
		var want admitted
		for i, profile := range strings.Split(text, "|") {
			least := slices.MinFunc(choices[i], func(a, b core.Step) int { return a.Nodes - b.Nodes }).Nodes
			want.Types = append(want.Types, fmt.Sprintf("ep%d=%s", i+1, strings.Trim(profile, " \t\r\n\v\f")))
			want.Requests = append(want.Requests, ask{Levels: fmt.Sprintf("network_address=%d", least), Walltime: choices[i].Total()})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.60q, which the planner reads as %v (-want +got)\n%s", text, choices, diff)
		}
	}
	return taken, len(texts)
}

// checkRefused checks that the message is one short printable line, and that it is package moldable's message for the first wrong
// alternative.
func checkRefused(t *testing.T, text, said string) {
	t.Helper()
	want := ""
	for i, profile := range strings.Split(text, "|") {
		if _, err := ep.Parse(profile); err != nil {
			want = fmt.Sprintf("accordion: ep%d: %v", i+1, err)
			break
		}
	}
	if strings.IndexFunc(said, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 || len(said) > 400 || eptest.Words(said, text) != eptest.Words(want, text) {
		t.Errorf("%.60q is refused with\n%s\nthe planner's message is\n%s", text, said, want)
	}
}

func TestAnEvolvingJobAsksForTheLeastNodesAndTheWholeTime(t *testing.T) {
	const profile = "ep=2x20s,5x20s,3x20s"
	one := admitted{Types: []string{profile}, Requests: []ask{{Levels: "network_address=2", Walltime: 60}}}
	for name, test := range map[string]struct {
		submission
		want admitted
	}{
		"nothing else is said":         {submission{Types: []string{profile}}, one},
		"an agreeing request":          {submission{Types: []string{profile}, Requests: []any{request(60, "network_address", 2)}}, one},
		"agreeing nodes":               {submission{Types: []string{profile}, Requests: []any{request(0, "network_address", 2)}}, one},
		"an agreeing walltime":         {submission{Types: []string{profile}, Requests: []any{request(60, "resource_id", 1)}}, one},
		"white space":                  {submission{Types: []string{" ep = 2x20s,5x20s,3x20s "}}, one},
		"alone with a number":          {submission{Types: []string{"ep1=2x20s"}}, admitted{Types: []string{"ep1=2x20s"}, Requests: []ask{{Levels: "network_address=2", Walltime: 20}}}},
		"an array of one":              {submission{Types: []string{profile}, Array: 1}, one},
		"another type, which it keeps": {submission{Types: []string{"idempotent", profile}}, admitted{Types: []string{"idempotent", profile}, Requests: one.Requests}},
		"alternatives": {submission{Types: []string{"ep2=4x40m,16x40m", "ep1=2x1h,8x1h"}},
			admitted{Types: []string{"ep1=2x1h,8x1h", "ep2=4x40m,16x40m"}, Requests: []ask{{Levels: "network_address=2", Walltime: 7200}, {Levels: "network_address=4", Walltime: 4800}}}},
		"alternatives with a request for each": {submission{Types: []string{"ep1=2x1h", "ep2=4x30m"}, Requests: []any{request(3600, "network_address", 2), request(1800, "network_address", 4)}},
			admitted{Types: []string{"ep1=2x1h", "ep2=4x30m"}, Requests: []ask{{Levels: "network_address=2", Walltime: 3600}, {Levels: "network_address=4", Walltime: 1800}}}},
		"an ordinary job":                  {submission{Requests: []any{request(5, "core", 3)}}, admitted{Requests: []ask{{Levels: "core=3", Walltime: 5}}}},
		"a type that only begins like one": {submission{Types: []string{"epilogue=x"}}, admitted{Types: []string{"epilogue=x"}, Requests: []ask{{Levels: "resource_id=1", Walltime: 0}}}},
	} {
		t.Run(name, func(t *testing.T) {
			test.Queue = "evolve"
			if diff := cmp.Diff(test.want, submitTo(t, between, 16, []submission{test.submission})[0]); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// refusals are submissions that Accordion's rules refuse on 16 nodes, with a part of each message.
var refusals = []struct {
	submission
	says string
}{
	{submission{Types: []string{"ep"}}, `-t "ep" is no profile`},
	{submission{Types: []string{"ep3"}}, `-t "ep3" is no profile`},
	{submission{Types: []string{"ep=2x20s", "ep=2x20s"}}, "-t ep= is there twice"},
	{submission{Types: []string{"ep=2x20s", "ep1=2x20s"}}, "-t ep1= is one too many"},
	{submission{Types: []string{"ep1=2x20s", "ep3=2x20s"}}, "-t ep3= is one too many"},
	{submission{Types: []string{"ep0=2x20s"}}, "-t ep0= is one too many"},
	{submission{Types: []string{"ep01=2x20s"}}, "-t ep01= is one too many"},
	{submission{Types: []string{"ep1=2x20s", "ep2=2x20"}}, `ep2: evolution profile, column 3: "20" is not a duration`},
	{submission{Types: []string{"ep=2x20s,17x20s"}}, "grows to 17 nodes, and the cluster has 16"},
	{submission{Types: []string{"ep1=2x20s", "ep2=17x20s"}}, "ep2: the profile grows to 17 nodes"},
	{submission{Types: []string{"ep=" + strings.Repeat("2x20s,3x20s,", 15) + "10x20s,1x2s"}}, "has 191 characters, and OAR has room for 190"},
	{submission{Types: []string{"ep1=" + strings.Repeat("2x20s,3x20s,", 12) + "2x20s", "ep2=" + strings.Repeat("2x20s,", 9) + "2x20s"}}, "has 208 characters with those before it"},
	{submission{Types: []string{"ep=2x20s", "container"}}, "cannot be of type container, too"},
	{submission{Types: []string{"ep=2x20s", "container=c"}}, "cannot be of type container, too"},
	{submission{Types: []string{"inner=7", "ep=2x20s"}}, "cannot be of type inner, too"},
	{submission{Types: []string{"ep=2x20s", "deploy"}}, "cannot be of type deploy, too"},
	{submission{Types: []string{"ep=2x20s", "besteffort"}}, "cannot be of type besteffort, too"},
	{submission{Types: []string{"ep=2x20s", "cosystem=standby"}}, "cannot be of type cosystem, too"},
	{submission{Types: []string{"ep=2x20s", "noop"}}, "cannot be of type noop, too"},
	{submission{Types: []string{"ep=2x20s", "timesharing=*,user"}}, "cannot be of type timesharing, too"},
	{submission{Types: []string{"ep=2x20s", "placeholder=a"}}, "cannot be of type placeholder, too"},
	{submission{Types: []string{"ep=2x20s", "allowed=a"}}, "cannot be of type allowed, too"},
	{submission{Types: []string{"ep=2x20s", "state=permissive"}}, "cannot be of type state, too"},
	{submission{Types: []string{"ep=2x20s", "postpone=2030-01-01"}}, "cannot be of type postpone, too"},
	{submission{Types: []string{"ep=2x20s", "deadline=2030-01-01"}}, "cannot be of type deadline, too"},
	{submission{Types: []string{"ep=2x20s", "expire=2030-01-01"}}, "cannot be of type expire, too"},
	{submission{Types: []string{"ep=2x20s", "token:x=1"}}, "cannot be of type token, too"},
	{submission{Types: []string{"ep=2x20s", "desktop_computing"}}, "cannot be of type desktop_computing, too"},
	{submission{Types: []string{"ep=2x20s"}, Queue: "default"}, `run in the queue evolve, and this one is for "default": say -q evolve`},
	{submission{Types: []string{"ep=2x20s"}, Reservation: "toSchedule"}, "leave -r out"},
	{submission{Types: []string{"ep=2x20s"}, Kind: "INTERACTIVE"}, "cannot be interactive: leave -I out"},
	{submission{Types: []string{"ep=2x20s"}, Array: 2}, "an array of jobs cannot evolve"},
	{submission{Types: []string{"ep=2x20s"}, Properties: "gpu = 'YES'"}, "leave the property (-p) out: \"gpu = 'YES'\""},
	{submission{Types: []string{"ep=2x20s,5x20s"}, Requests: []any{request(0, "network_address", 5)}}, "network_address=5\", and ep=2x20s,5x20s has 2 at the least: leave -l out, or say -l nodes=2,walltime=0:00:40"},
	{submission{Types: []string{"ep=2x20s,5x20s"}, Requests: []any{request(30, "network_address", 2)}}, "a walltime of 30 s, and ep=2x20s,5x20s lasts 40 s"},
	{submission{Types: []string{"ep=2x20s,5x20s"}, Requests: []any{request(7199, "resource_id", 1)}}, "a walltime of 7199 s"},
	{submission{Types: []string{"ep=1x20s"}, Requests: []any{request(0, "core", 1)}}, `-l asks for "/core=1"`},
	{submission{Types: []string{"ep=2x20s"}, Requests: []any{request(0, "network_address", 2, "core", 1)}}, `-l asks for "/network_address=2/core=1"`},
	{submission{Types: []string{"ep=2x20s"}, Requests: []any{request(0, "switch", 1, "network_address", 2)}}, `-l asks for "/switch=1/network_address=2"`},
	{submission{Types: []string{"ep=2x20s"}, Requests: []any{request(0, "network_address", -1)}}, `-l asks for "/network_address=-1"`},
	{submission{Types: []string{"ep=2x20s"}, Requests: []any{propertied("gpu='Y'", 0, "network_address", 2)}}, `-l asks for "{gpu='Y'}/network_address=2"`},
	{submission{Types: []string{"ep=2x20s"}, Requests: []any{propertied("gpu='Y'", 0, "resource_id", 1)}}, `-l asks for "{gpu='Y'}/resource_id=1"`},
	{submission{Types: []string{"ep=2x20s"}, Requests: []any{request(0, "network_address", 2), request(0, "network_address", 4)}}, "2 requests (-l) and 1 profiles"},
	{submission{Types: []string{"ep1=2x20s", "ep2=4x10s", "ep3=8x5s"}, Requests: []any{request(0, "network_address", 2), request(0, "network_address", 4)}}, "2 requests (-l) and 3 profiles"},
	{submission{Types: []string{"ep1=2x20s", "ep2=4x10s"}, Requests: []any{request(20, "resource_id", 1)}}, "1 requests (-l) and 2 profiles"},
	{submission{Types: []string{"ep1=2x20s", "ep2=4x10s"}, Requests: []any{request(20, "network_address", 2), request(20, "network_address", 4)}}, "a walltime of 20 s, and ep2=4x10s lasts 10 s"},
	{submission{Types: []string{"ep=2x20s"}, Name: strings.Repeat("n", 200)}, "characters longer than OAR has room for"},
}

// OAR does not read #EP requests in scripts. Under OAR, a script with such a request is refused, although Slurm's
// plug-in would accept it. The message shows the line for OAR (found/21).
func TestLinesForSlurmAreRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "oardodo"), []byte("#!/bin/sh\nexec \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	cases := eptest.Directives()
	var all []submission
	for i, c := range cases {
		file := filepath.Join(dir, fmt.Sprint("job", i))
		if err := os.WriteFile(file, []byte(c.Script), 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, submission{Command: file + " argument", Line: "oarsub -l nodes=1 -S " + file + " argument", Queue: "default"})
	}
	scanned := len(all)
	all = append(all, submission{Command: all[0].Command, Line: "oarsub " + all[0].Command},
		submission{Types: []string{"ep=2x20s"}, Queue: "evolve", Command: all[0].Command, Line: "oarsub -q evolve -t ep=2x20s -S x"})
	for i, got := range submitTo(t, between, 16, all) {
		if i >= scanned {
			if got.Said != "" || got.Warned != "" {
				t.Errorf("%+v is answered with %+v", all[i], got)
			}
			continue
		}
		c := cases[i]
		line, right := fmt.Sprintf("script line %d: ", c.Line), "#OAR -t ep="+c.Text
		if c.Word == "mold" {
			right = "#OAR -l nodes=4,walltime=2:00:00"
		}
		ok := false
		switch c.Outcome {
		case eptest.Accepted, eptest.Refused:
			ok = strings.HasPrefix(got.Said, "accordion: "+line) && strings.Contains(got.Said, `write "`+right+`"`)
		case eptest.Warned:
			ok = got.Said == "" && strings.HasPrefix(got.Warned, "accordion: "+line) && strings.Count(got.Warned, "\n") == 1
		case eptest.Ordinary:
			ok = got.Said == "" && got.Warned == ""
		}
		if !ok || strings.ContainsAny(got.Said, "\n\r") {
			t.Errorf("%s: %q, warned %q; want fate %d, %s%s", c.Name, got.Said, got.Warned, c.Outcome, line, right)
		}
	}
}

func TestWrongSubmissionsAreRefusedInOneLine(t *testing.T) {
	var all []submission
	for _, r := range refusals {
		if r.Queue == "" {
			r.Queue = "evolve"
		}
		all = append(all, r.submission)
	}
	for i, got := range submitTo(t, between, 16, all) {
		if r := refusals[i]; !strings.HasPrefix(got.Said, "accordion: ") || !strings.Contains(got.Said, r.says) || strings.ContainsAny(got.Said, "\n\r") {
			t.Errorf("%+v is answered with %q, want one line with %q", r.submission, got.Said, r.says)
		}
	}
}

func TestAPartOfAnApplicationAsksForOneNodeUntilItsLauncherSays(t *testing.T) {
	asks := func(walltime int64, types ...string) admitted {
		return admitted{Types: types, Requests: []ask{{Levels: "network_address=1", Walltime: walltime}}}
	}
	for name, test := range map[string]struct {
		submission
		want admitted
	}{
		"nothing else is said":         {submission{Types: []string{"launch=7"}}, asks(0, "launch=7")},
		"white space":                  {submission{Types: []string{" launch = 7 "}}, asks(0, "launch=7")},
		"the largest":                  {submission{Types: []string{"launch=123456789012345678"}}, asks(0, "launch=123456789012345678")},
		"nodes and a walltime":         {submission{Types: []string{"launch=7"}, Requests: []any{request(3600, "network_address", 4)}}, asks(3600, "launch=7")},
		"cores":                        {submission{Types: []string{"launch=7"}, Requests: []any{request(0, "network_address", 2, "core", 1)}}, asks(0, "launch=7")},
		"another type, which it keeps": {submission{Types: []string{"idempotent", "launch=7"}}, asks(0, "idempotent", "launch=7")},
	} {
		t.Run(name, func(t *testing.T) {
			test.Queue = "evolve"
			if diff := cmp.Diff(test.want, submitTo(t, between, 16, []submission{test.submission})[0]); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// wrongParts are submissions of parts of applications that are refused, with a part of each message.
var wrongParts = []struct {
	submission
	says string
}{
	{submission{Types: []string{"launch"}}, "-t launch= is not the number of an application"},
	{submission{Types: []string{"launch="}}, "-t launch= is not the number of an application"},
	{submission{Types: []string{"launch=0"}}, "-t launch=0 is not the number"},
	{submission{Types: []string{"launch=07"}}, "-t launch=07 is not the number"},
	{submission{Types: []string{"launch=x"}}, "-t launch=x is not the number"},
	{submission{Types: []string{"launch=-7"}}, "-t launch=-7 is not the number"},
	{submission{Types: []string{"launch=7 8"}}, "-t launch=7 8 is not the number"},
	{submission{Types: []string{"launch=7\n8"}}, `-t launch=7\x0a8 is not the number`},
	{submission{Types: []string{"launch=1234567890123456789"}}, "is not the number"},
	{submission{Types: []string{"launch=7", "ep=2x20s"}}, "-t launch=7 together with -t ep="},
	{submission{Types: []string{"ep1=2x20s", "launch=7"}}, "-t launch=7 together with -t ep="},
	{submission{Types: []string{"launch=7", "launch=8"}}, "-t launch=7 together with -t launch=8"},
	{submission{Types: []string{"launch=7", "besteffort"}}, "a part of an application cannot be of type besteffort, too"},
	{submission{Types: []string{"launch=7"}, Queue: "default"}, `parts of applications run in the queue evolve, and this one is for "default": say -q evolve`},
	{submission{Types: []string{"launch=7"}, Reservation: "toSchedule"}, "cannot be an advance reservation: leave -r out"},
	{submission{Types: []string{"launch=7"}, Kind: "INTERACTIVE"}, "cannot be interactive: leave -I out"},
	{submission{Types: []string{"launch=7"}, Array: 2}, "an array of jobs cannot be a part of an application"},
	{submission{Types: []string{"launch=7"}, Properties: "gpu = 'YES'"}, "leave the property (-p) out"},
	{submission{Types: []string{"launch=7"}, Requests: []any{propertied("gpu='Y'", 0, "network_address", 2)}}, "properties of nodes"},
	{submission{Types: []string{"launch=7"}, Requests: []any{request(0, "network_address", 2), request(0, "network_address", 4)}}, "2 requests (-l), and launch=7 gets its size from its launcher"},
	{submission{Types: []string{"launch=7"}, Name: strings.Repeat("n", 220)}, "the types of this part of an application are"},
}

func TestWrongPartsAreRefusedInOneLine(t *testing.T) {
	var all []submission
	for _, r := range wrongParts {
		if r.Queue == "" {
			r.Queue = "evolve"
		}
		all = append(all, r.submission)
	}
	for i, got := range submitTo(t, between, 16, all) {
		if r := wrongParts[i]; !strings.HasPrefix(got.Said, "accordion: ") || !strings.Contains(got.Said, r.says) || strings.ContainsAny(got.Said, "\n\r") {
			t.Errorf("%+v is answered with %q, want one line with %q", r.submission, got.Said, r.says)
		}
	}
}

func TestARuleOfTheSiteMaySetTheWalltimeOfAPartAndNotItsNodes(t *testing.T) {
	for rule, want := range map[string]string{
		`$ref_resource_list->[0]->[1] = 7200;`:                              "",
		`$queue_name = 'default';`:                                          "moves this part of an application from the queue evolve to default",
		`$ref_resource_list->[0]->[0]->[0]->{resources}->[0]->{value} = 3;`: "changes the nodes that launch=7 asks for",
		`push(@{$ref_resource_list}, $ref_resource_list->[0]);`:             "changes the number of requests (-l) of this part of an application",
	} {
		got := submitTo(t, between+rule+"\n", 16, []submission{{Types: []string{"launch=7"}, Queue: "evolve"}})[0]
		if want == "" && (got.Said != "" || got.Requests[0].Walltime != 7200) || !strings.Contains(got.Said, want) {
			t.Errorf("with the rule %s it is answered with %+v, want %q", rule, got, want)
		}
	}
}

func TestSitesRuleThatChangesAnEvolvingJobMakesItRefused(t *testing.T) {
	for _, test := range []struct{ rule, says string }{
		{`$queue_name = 'default';`, "moves this evolving job from the queue evolve to default"},
		{`foreach my $mold (@{$ref_resource_list}) { $mold->[1] = 30 if $mold->[1] > 30; }`, "makes the walltime 30 s, and ep=2x20s,5x20s lasts 40 s"},
		{`$ref_resource_list->[0]->[0]->[0]->{resources}->[0]->{value} = 3;`, "changes the nodes"},
		{`push(@{$ref_resource_list}, $ref_resource_list->[0]);`, "changes the number of requests"},
		{`die("[SITE] no jobs today\n");`, "[SITE] no jobs today"},
		{`this is no Perl;`, "line"},
	} {
		got := submitTo(t, between+test.rule+"\n", 16, []submission{{Types: []string{"ep=2x20s,5x20s"}, Queue: "evolve"}})[0]
		if !strings.Contains(got.Said, test.says) {
			t.Errorf("with the rule %s it is answered with %q, want %q", test.rule, got.Said, test.says)
		}
	}
}

func TestSitesRuleThatEndsAllRulesKeepsTheProfile(t *testing.T) {
	got := submitTo(t, between+"return 1;\n", 16, []submission{
		{Types: []string{"ep=2x20s,5x20s", "idempotent"}, Queue: "evolve"},
		{Types: []string{"idempotent"}, Queue: "evolve"},
	})
	want := []admitted{
		{Types: []string{"idempotent", "ep=2x20s,5x20s"}, Requests: []ask{{Levels: "network_address=2", Walltime: 40}}},
		{Types: []string{"idempotent"}, Requests: []ask{{Levels: "resource_id=1", Walltime: 0}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
