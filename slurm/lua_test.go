package slurm_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/core/ep/eptest"
	"accordion/core/moldable"
	"accordion/internal/testenv"
	"accordion/slurm/limits"
)

// fields holds the fields of a job in job_submit.lua, by Slurm's names. A value is a string or an int64.
type fields map[string]any

const refused, denied, unsaidNumber = int64(-1), int64(2002), int64(4294967294)

// submit passes jobs to job_submit.lua and returns the resulting jobs. All jobs run in one process of a real Lua
// 5.1.
func submit(t testing.TB, nodes int, jobs []fields) []fields {
	t.Helper()
	return submitAt(t, `return { partitions = { "main" } }`, nodes, jobs)
}

// submitAt does what submit does, with `site` as the text of accordion.lua.
func submitAt(t testing.TB, site string, nodes int, jobs []fields) []fields {
	t.Helper()
	return submitWithFiles(t, map[string]string{"accordion.lua": site}, strconv.Itoa(nodes), jobs)
}

// submitWithLimits does what submit does, with a file of limits.
func submitWithLimits(t testing.TB, nodes int, limits string, jobs []fields) []fields {
	t.Helper()
	return submitWithFiles(t, map[string]string{"accordion.lua": `return { partitions = { "main" } }`, "accordion_limits.lua": limits}, strconv.Itoa(nodes), jobs)
}

// submitWithFiles does what submit does, with `files` in the folder of the plug-in. `pool` is a number of nodes, or
// the nodes' names.
func submitWithFiles(t testing.TB, files map[string]string, pool string, jobs []fields) []fields {
	t.Helper()
	lua := testenv.Program(t, "lua5.1")
	plugin, err := os.ReadFile("job_submit.lua")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files = maps.Clone(files)
	files["job_submit.lua"] = string(plugin)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(fresh(name, text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var input bytes.Buffer
	for _, job := range jobs {
		input.WriteString(line(job))
	}
	c := exec.CommandContext(t.Context(), lua, "testdata/submit.lua", filepath.Join(dir, "job_submit.lua"), pool)
	c.Stdin = &input
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("lua5.1: %v: %s", err, errs.String())
	}
	results := parseFields(t, out)
	if len(results) != len(jobs) {
		t.Fatalf("%d jobs gave %d results", len(jobs), len(results))
	}
	for i, r := range results {
		if fault, broke := r["fault"]; broke {
			t.Errorf("the plug-in broke on %v: %s", jobs[i], fault)
		}
	}
	return results
}

// fresh adds the current time to the text of a file in the plug-in's folder, as if the sidecar had written the file
// now. It returns a text that already has a time unchanged.
func fresh(name, text string) string {
	if strings.HasPrefix(name, "accordion_") && !strings.HasPrefix(text, "-- second:") {
		return limits.Dated(text, time.Now())
	}
	return text
}

// line formats a job for testdata/submit.lua.
func line(job fields) string {
	var b strings.Builder
	for name, value := range job {
		switch v := value.(type) {
		case string:
			fmt.Fprintf(&b, "%s=%s ", name, hex.EncodeToString([]byte(v)))
		case runs:
			fmt.Fprintf(&b, "%s=%s ", name, v.encoded())
		default:
			fmt.Fprintf(&b, "%s=#%d ", name, v)
		}
	}
	b.WriteByte('\n')
	return b.String()
}

func parseFields(t testing.TB, out []byte) (results []fields) {
	t.Helper()
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		job := fields{}
		for word := range strings.FieldsSeq(lines.Text()) {
			name, value, _ := strings.Cut(word, "=")
			if digits, isNumber := strings.CutPrefix(value, "#"); isNumber {
				n, err := strconv.ParseInt(digits, 10, 64)
				if err != nil {
					t.Fatalf("%s of %s: %v", word, lines.Text(), err)
				}
				job[name] = n
				continue
			}
			text, err := hex.DecodeString(value)
			if err != nil {
				t.Fatalf("%s: %v", word, err)
			}
			job[name] = string(text)
		}
		results = append(results, job)
	}
	return results
}

// A requestWay is how a request reaches the plug-in.
type requestWay struct {
	job   func(word, text string) fields
	named string // where the request was written; messages have this in addition to the planner's text
	lead  string // the text before the request on the same line
	never string // bytes that a request written there cannot contain
}

func requestWays(word string) map[string]requestWay {
	line := "#" + strings.ToUpper(word) + " "
	return map[string]requestWay{
		"a line": {func(_, text string) fields {
			return fields{"script": "#!/bin/sh\n" + line + text + "\nsrun hostname\n"}
		}, "script line 2, ", line, "\n"},
		"an option": {asOption, "--" + word + ", ", "", "\n"}, // submit.lua expects one option per line
		"a comment": {func(word, text string) fields { return fields{"comment": word + "=" + text} }, "", "", " \t\r\n\v\f"},
	}
}

// asOption returns a job submitted with --ep= or --mold=, in the format in which slurmctld passes it to
// job_submit.lua.
func asOption(word, text string) fields {
	return fields{"spank": "_SLURM_SPANK_OPTION_accordion_" + word + "=" + text}
}

func TestThePluginJudgesEveryTextAsThePlannerDoes(t *testing.T) {
	table := eptest.Cases()
	for _, word := range []string{"ep", "mold"} {
		for name, w := range requestWays(word) {
			t.Run(name+", "+word, func(t *testing.T) { judgeTexts(t, word, w, table) })
		}
	}
}

// The rules of OAR and `accordion ep check` are tested with the same texts.
func TestThePluginJudgesTenThousandRandomTextsAsThePlannerDoes(t *testing.T) {
	for word, n := range map[string]int{"ep": 10_000, "mold": 5000} {
		taken, all := judgeTexts(t, word, requestWays(word)["an option"], eptest.Random(*seed, n, word))
		t.Logf("-accordion.seed %d: %d of %d texts are taken", *seed, taken, all)
		if all != n || taken < n/5 || taken > n*4/5 {
			t.Errorf("%s: %d of %d: the comparison shows little", word, taken, all)
		}
	}
}

// judgeTexts passes texts to the plug-in and compares the results with the planner's. It returns how many texts
// were accepted, and the number of all texts.
func judgeTexts(t *testing.T, word string, w requestWay, cases []eptest.Case) (taken, all int) {
	t.Helper()
	var texts []string
	var jobs []fields
	for _, c := range cases {
		if c.Word == word && !strings.ContainsAny(c.Text, w.never) {
			texts, jobs = append(texts, c.Text), append(jobs, w.job(word, c.Text))
		}
	}
	parse := moldable.ParseProfiles
	if word == "mold" {
		parse = moldable.Parse
	}
	for i, got := range submit(t, 1_000_000, jobs) {
		text := texts[i]
		choices, err := parse(strings.Repeat(" ", len(w.lead)) + text)
		if err != nil {
			checkRefusal(t, text, got, w.named, err)
			continue
		}
		taken++
		mark, length := moldable.Format(choices), choices[0].Total()
		if strings.Contains(text, "=") { // the plug-in does not parse a model, so the request stays unchanged
			mark = strings.Trim(text, " \t\r\n\v\f")
		}
		for _, ep := range choices {
			if word == "ep" {
				length = max(length, ep.Total())
			}
		}
		if got["rc"] != int64(0) || got["admin_comment"] != "accordion:"+word+"="+mark || got["min_nodes"] != int64(choices[0][0].Nodes) ||
			!strings.Contains(text, "downey") && got["time_limit"] != (length+59)/60 {
			t.Errorf("%s %.60q: the planner reads %.60s for %d s, the plug-in says %v", word, text, mark, length, got)
		}
	}
	return taken, len(texts)
}

// checkRefusal checks that the message is one short printable line. Except for the place of the text it must equal
// the planner's message.
func checkRefusal(t *testing.T, text string, got fields, named string, want error) {
	t.Helper()
	said, _ := got["user"].(string)
	if got["rc"] != refused || said == "" || len(said) > 400 || !printable(said) {
		t.Errorf("%.60q: the planner says %v, the plug-in %v: %q", text, want, got["rc"], said)
		return
	}
	if what, rest, _ := strings.Cut(want.Error(), ", "); eptest.Words(said, text) != eptest.Words("accordion: "+what+", "+named+rest, text) {
		t.Errorf("%.60q is refused with\n%s\nthe planner says\n%v", text, said, want)
	}
}

func printable(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// Slurm 20.11 gives the plug-in the names of a partition's nodes, but not their number.
func TestTheNodesOfAPoolAreCountedByTheirNames(t *testing.T) {
	files := map[string]string{"accordion.lua": `return { partitions = { "main" } }`}
	for names, want := range map[string]int{
		"n1": 1, "n[1-10]": 10, "n[1-3,07,09-11]": 7, "a1,b[2-3],c4": 4, "r[1-2]n[1-4,8]": 10, "x,r[1-2]n[1-4,8],y[1,2]": 13, "n[098-101]": 4,
	} {
		got := submitWithFiles(t, files, names, []fields{{"comment": fmt.Sprintf("ep=%dx20s", want)}, {"comment": fmt.Sprintf("ep=%dx20s", want+1)}})
		if says := fmt.Sprintf("more than the %d nodes", want); got[0]["rc"] != int64(0) || got[1]["rc"] != refused || !strings.Contains(fmt.Sprint(got[1]["user"]), says) {
			t.Errorf("of %s all nodes: %v; one more: %v, want %q", names, got[0], got[1], says)
		}
	}
	for _, names := range []string{"n[a-b]", "n[3-1]", "n[]"} { // the plug-in accepts the job, and the sidecar reports the error
		if got := submitWithFiles(t, files, names, []fields{{"comment": "ep=99x20s"}}); got[0]["rc"] != int64(0) {
			t.Errorf("nodes %q: %v", names, got[0])
		}
	}
}

func TestAManagedJobIsToldWhereTheSidecarIs(t *testing.T) {
	const job = "#!/bin/sh\n#EP 2x20s,5x20s\n"
	const address, munge = "env.ACCORDION_ADDRESS", "env.ACCORDION_MUNGE_SOCKET"
	for name, test := range map[string]struct {
		site string
		job  fields
		want fields // a nil value means that the field is not set
	}{
		"nothing, where the site names nothing": {``, fields{"script": job}, fields{address: nil, munge: nil}},
		"the address":                           {`address = "ctl:6820"`, fields{"script": job}, fields{address: "ctl:6820", munge: nil}},
		"munge's socket too":                    {`address = "ctl:6820", munge_socket = "/m"`, fields{"script": job}, fields{address: "ctl:6820", munge: "/m"}},
		"in place of another cluster's":         {`address = "ctl:6820"`, fields{"script": job, address: "other:1"}, fields{address: "ctl:6820"}},
		"not in a job that has no environment":  {`address = "ctl:6820"`, fields{"comment": "ep=2x20s", "env": int64(0)}, fields{address: nil}},
		"not in an ordinary job":                {`address = "ctl:6820"`, fields{"script": "#!/bin/sh\n"}, fields{address: nil}},
		"not what is no address":                {`address = 6820`, fields{"script": job}, fields{address: nil}},
	} {
		t.Run(name, func(t *testing.T) {
			got := submitAt(t, `return { partitions = { "main" }, `+test.site+` }`, 16, []fields{test.job})[0]
			if got["rc"] != int64(0) {
				t.Fatalf("refused: %v", got["user"])
			}
			for variable, want := range test.want {
				if got[variable] != want {
					t.Errorf("%s = %v, want %v", variable, got[variable], want)
				}
			}
		})
	}
}

func TestAnAcceptedJobIsSizedMarkedAndHeld(t *testing.T) {
	long := strings.TrimSuffix(strings.Repeat("1x1h30m20s,2x1h30m20s,", 512), ",")
	for _, test := range []struct {
		name      string
		job, want fields
	}{
		{"a profile in the script", fields{"script": "#!/bin/sh\n#EP 2x20s,5x20s,3x20s\n"}, fields{
			"min_nodes": int64(2), "max_nodes": int64(2), "time_limit": int64(1), "priority": int64(0), "requeue": int64(0),
			"comment": "ep=2x20s,5x20s,3x20s", "admin_comment": "accordion:ep=2x20s,5x20s,3x20s"}},
		{"lines go on", fields{"script": "#!/bin/sh\n#EP 2x20s\n\n#SBATCH -n4\n#EP 2x40s,5x1h\necho\n#EP 9x9s\n"}, fields{
			"time_limit": int64(61), "admin_comment": "accordion:ep=2x1m,5x1h"}},
		{"configurations", fields{"script": "#!/bin/sh\n#MOLD\t4x2h|8x70m\n"}, fields{
			"min_nodes": int64(4), "time_limit": int64(120), "comment": "mold=4x2h|8x1h10m", "admin_comment": "accordion:mold=4x2h|8x1h10m"}},
		{"a comment with the user's own", fields{"comment": "ep=3x90s  run 7"}, fields{
			"min_nodes": int64(3), "time_limit": int64(2), "comment": "ep=3x1m30s run 7", "admin_comment": "accordion:ep=3x1m30s"}},
		{"the script's request beside another comment", fields{"script": "#!/bin/sh\n#EP 1x1m\n", "comment": "run 7"}, fields{"comment": "ep=1x1m run 7"}},
		{"the same said twice", fields{"script": "#!/bin/sh\n#EP 1x1m\n", "comment": "ep=1x30s,1x30s mine"}, fields{"comment": "ep=1x1m mine"}},
		{"what srun asks for unasked", fields{"comment": "ep=3x90s", "min_nodes": int64(1), "partition": "main"},
			fields{"rc": int64(0), "min_nodes": int64(3)}},
		{"what agrees with the profile", fields{"comment": "ep=3x90s", "min_nodes": int64(3), "max_nodes": int64(3), "time_limit": int64(2), "partition": "main"},
			fields{"rc": int64(0), "min_nodes": int64(3)}},
		{"tasks a node", fields{"comment": "ep=3x90s", "ntasks_per_node": int64(2), "num_tasks": int64(2), "cpus_per_task": int64(2)},
			fields{"num_tasks": int64(6), "min_cpus": int64(12), "env.SLURM_NTASKS": nil}},
		{"tasks a node, of which the script is told", fields{"comment": "ep=3x90s", "ntasks_per_node": int64(2), "env.SLURM_NTASKS": "2", "env.SLURM_NPROCS": "2"},
			fields{"num_tasks": int64(6), "env.SLURM_NTASKS": "6", "env.SLURM_NPROCS": "6"}},
		{"tasks a node, of a job without an environment", fields{"comment": "ep=3x90s", "ntasks_per_node": int64(2), "env": int64(0)}, fields{"num_tasks": int64(6)}},
		{"a profile too long for Slurm's comment is whole in the mark", fields{"comment": "ep=" + long}, fields{"rc": int64(0), "admin_comment": "accordion:ep=" + long}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := submit(t, 16, []fields{test.job})[0]
			for name, want := range test.want {
				if got[name] != want {
					t.Errorf("%s = %v, want %v (%v)", name, got[name], want, got["user"])
				}
			}
			if comment, _ := got["comment"].(string); len(comment) > 1024 {
				t.Errorf("the comment has %d bytes; Slurm takes 1,024", len(comment))
			}
		})
	}
}

func TestAContradictionIsRefusedInOneLineThatNamesIt(t *testing.T) {
	const script = "#!/bin/sh\n#EP 2x20s,5x20s\n"
	for name, test := range map[string]struct {
		job  fields
		says string
	}{
		"other nodes":       {fields{"script": script, "min_nodes": int64(3)}, "--nodes contradicts"},
		"one node":          {fields{"script": script, "min_nodes": int64(1), "max_nodes": int64(1)}, "--nodes contradicts"},
		"at most one node":  {fields{"script": script, "max_nodes": int64(1)}, "--nodes contradicts"},
		"a range of nodes":  {fields{"script": script, "min_nodes": int64(2), "max_nodes": int64(5)}, "--nodes contradicts"},
		"another length":    {fields{"script": script, "time_limit": int64(2)}, "--time contradicts"},
		"a least length":    {fields{"script": script, "time_min": int64(1)}, "--time-min"},
		"heterogeneous":     {fields{"script": script, "het_job_offset": int64(0)}, "heterogeneous"},
		"chosen nodes":      {fields{"script": script, "req_nodes": "n1"}, "--nodelist"},
		"excluded nodes":    {fields{"script": script, "exc_nodes": "n1"}, "--exclude"},
		"a reservation":     {fields{"script": script, "reservation": "mine"}, "--reservation"},
		"GPUs in all":       {fields{"script": script, "tres_per_job": "gres:gpu:8"}, "--gpus-per-node"},
		"GPUs a socket":     {fields{"script": script, "tres_per_socket": "gres:gpu:1"}, "--gpus-per-node"},
		"counted features":  {fields{"script": script, "features": "[thin*2&fat*1]"}, "--constraint"},
		"another partition": {fields{"script": script, "partition": "shared"}, `partition "shared"`},
		"two partitions":    {fields{"script": script, "partition": "main,shared"}, `partition "main,shared"`},
		"too many nodes":    {fields{"script": "#!/bin/sh\n#EP 2x20s,17x20s\n"}, `"17x20s" is more than the 16 nodes`},
		"both kinds":        {fields{"script": script + "#MOLD 2x40s\n"}, "#EP and #MOLD"},
		"a malleable job":   {fields{"script": "#!/bin/sh\n#MALLEABLE 16x2h 4-64\n"}, "#MALLEABLE and malleable= are reserved"},
		"two requests":      {fields{"script": script, "comment": "ep=2x21s"}, "say it once"},
		"two kinds":         {fields{"script": script, "comment": "mold=2x20s"}, "say it once"},
		"nothing":           {fields{"script": "#!/bin/sh\n#EP\n"}, "NODESxDURATION"},
		"too many tasks":    {fields{"script": script, "ntasks_per_node": int64(65533), "cpus_per_task": int64(65533)}, "--ntasks-per-node=65533: on 2 nodes"},
		"too long a text":   {fields{"comment": "ep=" + strings.Repeat("1", 70000)}, "longer than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got := submit(t, 16, []fields{test.job})[0]
			said, _ := got["user"].(string)
			if got["rc"] != refused || !strings.Contains(said, test.says) || strings.ContainsAny(said, "\n\r") {
				t.Errorf("refused with %v: %q; want a line with %q", got["rc"], said, test.says)
			}
		})
	}
}

// A line that looks like a request is accepted, rejected, or named in a message to the user. The first cases come
// from cmd/accordion/testdata/found/21-ep-line-forms. The test of OAR's admission rule uses the same scripts.
func TestALineThatLooksLikeARequestIsNeverIgnoredInSilence(t *testing.T) {
	cases := eptest.Directives()
	var jobs []fields
	for _, c := range cases {
		jobs = append(jobs, fields{"script": c.Script})
	}
	for i, got := range submit(t, 16, jobs) {
		c := cases[i]
		said, _ := got["user"].(string)
		line, right := fmt.Sprintf("script line %d: ", c.Line), "#"+strings.ToUpper(c.Word)+" "+c.Text
		mark, _ := got["admin_comment"].(string)
		ok := false
		switch c.Outcome {
		case eptest.Accepted:
			ok = got["rc"] == int64(0) && said == "" && strings.HasPrefix(mark, "accordion:"+c.Word+"=")
		case eptest.Refused:
			ok = got["rc"] == refused && strings.Contains(said, line) && strings.Contains(said, `write "`+right+`"`)
		case eptest.Warned:
			ok = got["rc"] == int64(0) && mark == "" && strings.Contains(said, line) && strings.Contains(said, "is not read")
		case eptest.Ordinary:
			ok = got["rc"] == int64(0) && mark == "" && said == ""
		}
		if !ok || strings.ContainsAny(said, "\n\r") || len(said) > 400 {
			t.Errorf("%s: rc %v, mark %q, %q; want fate %d at line %d, %q", c.Name, got["rc"], mark, said, c.Outcome, c.Line, right)
		}
	}
}

// TestScriptsThatWereOrdinaryJobsInSilenceAreRefused submits the scripts of
// cmd/accordion/testdata/found/21-ep-line-forms.
func TestScriptsThatWereOrdinaryJobsInSilenceAreRefused(t *testing.T) {
	for name, says := range map[string]string{
		"blank": "no blanks after the comma", "colon": `write "#EP 1x20s,2x20s"`, "equals": `write "#EP 1x20s,2x20s"`, "indented": `write "#EP 1x20s,2x20s"`,
	} {
		script, err := os.ReadFile(filepath.Join("..", "cmd", "accordion", "testdata", "found", "21-ep-line-forms", name+".sh"))
		if err != nil {
			t.Fatal(err)
		}
		got := submit(t, 16, []fields{{"script": string(script)}})[0]
		if said, _ := got["user"].(string); got["rc"] != refused || !strings.Contains(said, says) {
			t.Errorf("%s: rc %v, %q; want %q", name, got["rc"], said, says)
		}
	}
}

func TestACommentThatIsMeantAsARequestIsRefusedWithTheRightForm(t *testing.T) {
	for comment, says := range map[string]string{
		"ep=2 x 20m, 4 x 1h": "; write ep=2x20m,4x1h", "ep=5x500s, 10x1h": "; write ep=5x500s,10x1h", "mold=4 x 2h | 8x70 min": "; write mold=4x2h|8x1h10m",
		"ep": "--comment=ep=5x500s,10x1h", " mold ": "--comment=mold=4x2h|8x70m|16x40m", "ep=": "NODESxDURATION", "mold=": "NODESxDURATION",
		"EP=2x20s": `--comment="ep=2x20s"`, "Ep=2x20s,4x20s run 7": `--comment="ep=2x20s,4x20s"`, "MOLD=2x20s": `--comment="mold=2x20s"`, "ep 2x20s": `--comment="ep=2x20s"`,
		"ep:2x20s": `--comment="ep=2x20s"`, "ep = 2x20s, 4x20s": `--comment="ep=2x20s,4x20s"`, "ep=2x20s, 4x20s": "no blanks after the comma", "ep= 2x20s": "no blanks after the comma",
		"malleable=16x2h 4-64": "malleable= are reserved", "mold=2x20s| 4x20s": "no blanks after the comma", "mold amdahl:p=0.9,t1=1h,nodes=1-4": `--comment="mold=amdahl:p=0.9,t1=1h,nodes=1-4"`,
	} {
		got := submit(t, 16, []fields{{"comment": comment}})[0]
		if said, _ := got["user"].(string); got["rc"] != refused || !strings.Contains(said, says) {
			t.Errorf("comment %q: rc %v, %q; want %q", comment, got["rc"], said, says)
		}
	}
	for _, comment := range []string{"ep=2x20m x-ray run", "ep=2x1h 30m", "ep=2x20m 4 x 1h"} {
		if got := submit(t, 16, []fields{{"comment": comment}})[0]; got["rc"] != int64(0) {
			t.Errorf("%s: %v, %v; want it taken", comment, got["rc"], got["user"])
		}
	}
}

func TestOrdinaryJobsAreNotTouched(t *testing.T) {
	jobs := []fields{
		{"script": "#!/bin/sh\nsrun hostname\n", "comment": "run 7", "min_nodes": int64(3), "array_inx": "1-3"},
		{"script": "#!/bin/sh\n#EPILOGUE 5x500\n#epic\n# EP of 5\n"}, {"comment": "ep run 5"}, {"comment": "EP"}, {"comment": "ep of class 5x5"},
		{"script": "#!/bin/sh\nsbatch <<E\n#!/bin/sh\n#EP 5x500s\nE\n"},
		{"script": ""}, {"comment": ""}, {}, {"comment": "step=5x500"}, {"comment": "ep5"}, {"script": "\x00\xff\n\n"},
		{"script": "#!/bin/sh\n" + strings.Repeat("# a comment\n", 5000) + "srun hostname\n" + strings.Repeat("#EPX 1x1s\n", 50000)},
		{"comment": "Launch=7"},
		{"name": "accordion-demo"}, {"reservation": "maintenance,accordion"}, {"dependency": "afterok:7"},
		{"uid": int64(0), "name": "accordion-grow-7", "dependency": "expand:7", "reservation": "accordion-7-2", "comment": "ep=1x1m"},
	}
	for i, got := range submit(t, 16, jobs) {
		if got["rc"] != int64(0) || got["user"] != nil || got["priority"] != nil || got["admin_comment"] != nil || got["comment"] != jobs[i]["comment"] {
			t.Errorf("%.80v became %v", jobs[i], got)
		}
	}
}

func TestAGrowthInTheOwnersNameComesBeforeEveryOtherJob(t *testing.T) {
	got := submit(t, 16, []fields{{"name": "accordion-over-7", "reservation": "accordion-7-2", "dependency": "expand:7"}})[0]
	if got["rc"] != int64(0) || got["priority"] != int64(4294967290) {
		t.Errorf("it became %v", got)
	}
}

func TestNobodySharesTheCoresOfAManagedPartition(t *testing.T) {
	jobs := []fields{
		{"shared": int64(1)}, {"shared": int64(1), "partition": "shared,main"}, {"shared": int64(1), "partition": "shared"},
		{"shared": int64(1), "uid": int64(0)}, {"shared": int64(0)}, {},
	}
	want := []any{int64(65534), int64(65534), int64(1), int64(1), int64(0), nil}
	for i, got := range submit(t, 16, jobs) {
		if got["rc"] != int64(0) || got["shared"] != want[i] || (got["user"] != nil) != (i < 2) {
			t.Errorf("%v became %v", jobs[i], got)
		}
	}
}

func TestLimitsAreCheckedAtSubmission(t *testing.T) {
	limits := `return {
		associations = { ["phys/1001"] = { nodes = 4, why = "cpu=8" }, ["phys"] = { nodes = 9, why = "node=9" } },
		parents = { ["lab"] = "phys" }, qos = { ["high"] = { nodes = 3, why = "node=3" } },
	}`
	for _, test := range []struct {
		name string
		job  fields
		says string // "" if the job is accepted
	}{
		{"the user's own", fields{"comment": "ep=1x1m,5x1m", "account": "phys", "user_id": int64(1001)}, "needs 5 nodes, and you may have 4: cpu=8"},
		{"the user's own, by default", fields{"comment": "ep=1x1m,5x1m", "default_account": "phys", "user_id": int64(1001)}, "you may have 4"},
		{"another user", fields{"comment": "ep=1x1m,5x1m", "account": "phys", "user_id": int64(1002)}, ""},
		{"the account's", fields{"comment": "ep=1x1m,10x1m", "account": "phys", "user_id": int64(1002)}, "you may have 9"},
		{"of the account above", fields{"comment": "ep=1x1m,10x1m", "account": "lab", "user_id": int64(1002)}, "you may have 9"},
		{"in capitals", fields{"comment": "ep=1x1m,5x1m", "account": "PHYS", "user_id": int64(1001)}, "you may have 4"},
		{"of the QOS in capitals", fields{"comment": "ep=1x1m,4x1m", "account": "lab", "qos": "High", "user_id": int64(1002)}, "you may have 3"},
		{"of the QOS", fields{"comment": "ep=1x1m,4x1m", "account": "lab", "qos": "high", "user_id": int64(1002)}, "you may have 3"},
		{"one alternative fits", fields{"comment": "ep=1x1m,4x1m|1x2m,3x1m", "account": "lab", "qos": "high", "user_id": int64(1002)}, ""},
		{"one size fits", fields{"comment": "mold=2x2m|9x1m", "account": "lab", "qos": "high", "user_id": int64(1002)}, ""},
		{"no size fits", fields{"comment": "mold=5x2m|9x1m", "account": "lab", "qos": "high", "user_id": int64(1002)}, "needs 5 nodes"},
		{"an unknown account", fields{"comment": "ep=1x1m,16x1m", "account": "other", "user_id": int64(1001)}, ""},
	} {
		got := submitWithLimits(t, 16, limits, []fields{test.job})[0]
		said, _ := got["user"].(string)
		if (got["rc"] == refused) != (test.says != "") || !strings.Contains(said, test.says) {
			t.Errorf("%s: %v %q, want %q", test.name, got["rc"], said, test.says)
		}
	}
	if got := submitWithLimits(t, 16, "no Lua", []fields{{"comment": "ep=1x1m,5x1m"}})[0]; got["rc"] != int64(0) {
		t.Errorf("with a file that is not Lua: %v", got)
	}
}

func TestWhatIsTheSidecarsIsNotForUsers(t *testing.T) {
	owner, root := int64(1000), int64(0)
	for name, test := range map[string]struct {
		job  fields
		want int64
	}{
		"an expander of a user":              {fields{"dependency": "afterok:3,expand:7"}, denied},
		"an expander in another case":        {fields{"dependency": "EXPAND:7"}, denied},
		"an expander among others":           {fields{"dependency": "afterok:3?Expand:7"}, denied},
		"an expander behind blanks":          {fields{"dependency": "afterok:3, \teXpand: 7"}, denied},
		"a growth in another case":           {fields{"name": "accordion-grow-7", "reservation": "accordion-7-2", "dependency": "Expand:7"}, denied},
		"the sidecar's, in another case":     {fields{"reservation": "mine, Accordion-7-2"}, denied},
		"a name in another case":             {fields{"name": " ACCORDION-With-7"}, denied},
		"the sidecar's reservation":          {fields{"reservation": "mine,accordion-7"}, denied},
		"an expander's name":                 {fields{"name": "accordion-grow-7"}, denied},
		"a companion's name":                 {fields{"name": "accordion-with-7", "reservation": "accordion-8-2"}, denied},
		"a script as an expander":            {fields{"name": "accordion-grow-7", "reservation": "accordion-7-2", "script": "#!/bin/sh\n"}, denied},
		"an expander of another job":         {fields{"name": "accordion-grow-7", "reservation": "accordion-7-2", "dependency": "expand:8"}, denied},
		"a growth in the owner's name":       {fields{"name": "accordion-grow-7", "reservation": "accordion-7-2", "dependency": "expand:7"}, 0},
		"a growth of an array's task":        {fields{"name": "accordion-grow-7", "reservation": "accordion-7-2", "dependency": "expand:7_12"}, 0},
		"of a task in another case":          {fields{"name": "accordion-grow-7", "reservation": "accordion-7-2", "dependency": "Expand:7_12"}, denied},
		"of another array's task":            {fields{"name": "accordion-grow-7", "reservation": "accordion-7-2", "dependency": "expand:8_7"}, denied},
		"of all tasks":                       {fields{"name": "accordion-grow-7", "reservation": "accordion-7-2", "dependency": "expand:7_*"}, denied},
		"of a task without a number":         {fields{"name": "accordion-grow-7", "reservation": "accordion-7-2", "dependency": "expand:7_"}, denied},
		"of digits without a line":           {fields{"name": "accordion-grow-7", "reservation": "accordion-7-2", "dependency": "expand:712"}, denied},
		"of a task and another job":          {fields{"name": "accordion-grow-7", "reservation": "accordion-7-2", "dependency": "expand:7_1:8"}, denied},
		"of a task later":                    {fields{"name": "accordion-grow-7", "reservation": "accordion-7-2", "dependency": "expand:7_1+5"}, denied},
		"of a task too long to be one":       {fields{"name": "accordion-grow-7", "reservation": "accordion-7-2", "dependency": "expand:7_" + strings.Repeat("1", 11)}, denied},
		"of a task, by a user":               {fields{"dependency": "expand:7_1"}, denied},
		"a job becomes a parasite of a task": {fields{"modify": int64(1), "uid": owner, "dependency": "expand:7_1"}, denied},
		"a companion in the owner's name":    {fields{"name": "accordion-with-7", "reservation": "accordion-7-12"}, 0},
		"an owner changes a managed job":     {fields{"modify": int64(1), "uid": owner, "admin_comment": "accordion:ep=2x20s"}, denied},
		"root changes a managed job":         {fields{"modify": int64(1), "uid": root, "admin_comment": "accordion:ep=2x20s"}, 0},
		"an owner changes an ordinary job":   {fields{"modify": int64(1), "uid": owner, "admin_comment": "bad nodes"}, 0},
		"a job without a mark is changed":    {fields{"modify": int64(1), "uid": owner}, 0},
		"an owner changes a companion":       {fields{"modify": int64(1), "uid": owner, "admin_comment": "accordion-with=7@1795000000"}, denied},
		"an owner changes an expander":       {fields{"modify": int64(1), "uid": owner, "name": "accordion-grow-7"}, denied},
		"a job moves into the pool":          {fields{"modify": int64(1), "uid": owner, "partition": "shared", "to": "shared,main"}, denied},
		"root moves a job into the pool":     {fields{"modify": int64(1), "uid": root, "partition": "shared", "to": "main"}, 0},
		"a job moves within the pool":        {fields{"modify": int64(1), "uid": owner, "partition": "main,shared", "to": "main"}, 0},
		"a job moves elsewhere":              {fields{"modify": int64(1), "uid": owner, "partition": "main", "to": "shared"}, 0},
		"an ordinary job becomes a parasite": {fields{"modify": int64(1), "uid": owner, "dependency": "expand:7"}, denied},
		"in another case":                    {fields{"modify": int64(1), "uid": owner, "dependency": "EXPAND:7"}, denied},
		"a job moves into the park":          {fields{"modify": int64(1), "uid": owner, "into": "ACCORDION-Park"}, denied},
		"to a partition named twice":         {fields{"modify": int64(1), "uid": owner, "partition": "shared", "to": ",main,,main"}, denied},
	} {
		t.Run(name, func(t *testing.T) {
			if got := submit(t, 16, []fields{test.job})[0]; got["rc"] != test.want {
				t.Errorf("rc = %v (%v), want %d", got["rc"], got["user"], test.want)
			}
		})
	}
}

// An operator may change a managed job, as root may. The plug-in uses the sidecar's list of operators unless the
// list is old.
func TestOnlyOperatorsMayChangeManagedJobs(t *testing.T) {
	const denied = int64(2002)
	old := "-- second:" + strconv.FormatInt(time.Now().Add(-20*time.Minute).Unix(), 10) + "\nreturn { [1002] = true }\n"
	operators := limits.OperatorsLua([]uint32{1002, 64030})
	managed := func(uid int64, more ...string) fields {
		f := fields{"modify": int64(1), "uid": uid, "admin_comment": "accordion:ep=2x20s"}
		for i := 0; i < len(more); i += 2 {
			f[more[i]] = more[i+1]
		}
		return f
	}
	for name, c := range map[string]struct {
		file string
		job  fields
		want int64
	}{
		"an operator":                          {operators, managed(1002), 0},
		"SlurmUser":                            {operators, managed(64030), 0},
		"its owner":                            {operators, managed(1000), denied},
		"another user":                         {operators, managed(1001), denied},
		"there is no file":                     {"", managed(1002), denied},
		"the file is old":                      {old, managed(1002), denied},
		"the file is broken":                   {"return {", managed(1002), denied},
		"the file has other values":            {"return { [1002] = 1 }", managed(1002), denied},
		"the file has other keys":              {"return { ['1002'] = true }", managed(1002), denied},
		"an operator takes the sidecar's name": {operators, managed(1002, "dependency", "EXPAND:7"), denied},
		"an operator moves it into the park":   {operators, managed(1002, "into", "accordion-park"), denied},
		"an operator takes it from the gate":   {operators, fields{"modify": int64(1), "uid": int64(1002), "resv_name": "accordion-gate", "into": ""}, 0},
		"an operator moves a job into a pool":  {operators, fields{"modify": int64(1), "uid": int64(1002), "partition": "shared", "to": "main"}, 0},
	} {
		files := map[string]string{"accordion.lua": `return { partitions = { "main" } }`}
		if c.file != "" {
			files["accordion_operators.lua"] = c.file
		}
		if got := submitWithFiles(t, files, "16", []fields{c.job})[0]; got["rc"] != c.want {
			t.Errorf("%s: rc = %v, want %d", name, got["rc"], c.want)
		}
	}
}
