package slurm_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var luaSeed = flag.Uint64("accordion.luaseed", 0, "the seed of hostile submissions to job_submit.lua; 0 is a new one each time")

// A `run` is a text that is repeated. A few runs can represent a text of megabytes.
type run struct {
	text  string
	times int
}

type runs []run

// encoded formats the text for testdata/submit.lua.
func (r runs) encoded() string {
	var parts []string
	for _, each := range r {
		if each.times > 0 && each.text != "" {
			parts = append(parts, fmt.Sprintf("%x*%d", each.text, each.times))
		}
	}
	return strings.Join(parts, "+")
}

func (r runs) String() string {
	var b strings.Builder
	for _, each := range r {
		fmt.Fprintf(&b, "%.40q*%d ", each.text, each.times)
	}
	return b.String()
}

// longestAllowed is the processor time that one submission may take in the plug-in.
const longestAllowed = 5 * time.Millisecond

// took returns the processor time that the plug-in spent on a job that `timed` submitted.
func took(job fields) time.Duration {
	us, _ := job["took"].(int64)
	return time.Duration(us) * time.Microsecond
}

// timed submits jobs and measures the time of each submission. In its folder the plug-in finds the files of a
// sidecar that manages all jobs and has listed 200 kinds of nodes.
func timed(t testing.TB, jobs []fields) []fields {
	t.Helper()
	for _, job := range jobs {
		job["timed"] = int64(1)
	}
	var nodes strings.Builder
	nodes.WriteString("-- sha256:0123abcd\nreturn { main = {\n")
	for i := range 200 {
		fmt.Fprintf(&nodes, "{ count = 5000, cpus = %d, sockets = 2, cores = 4, threads = 2, mem = 4000, tmp = 2000, features = { ib = true }, gres = { gpu = 4 } },\n", 16+i)
	}
	nodes.WriteString("} }\n")
	return submitWithFiles(t, map[string]string{
		"accordion.lua":       `return { partitions = { "main" }, manage = "all" }`,
		"accordion_nodes.lua": nodes.String(),
		"reservations.lua":    `return { ["accordion-lease"] = { end_time = 9999999999 }, ["accordion-gate"] = {} }`,
	}, "1000000", jobs)
}

func TestHugeTextsTakeThePluginUnderFiveMilliseconds(t *testing.T) {
	const shebang = "#!/bin/sh\n"
	head := func(r ...run) runs { return append(runs{{shebang, 1}}, r...) }
	huge := 4 << 20
	tests := []struct {
		name string
		job  fields
		says string // a part of the message; "" if there is none
		rc   int64
	}{
		{"460,000 lines", fields{"script": head(run{"#EP 1x1s\n", 460_000})}, "longer than 65536 bytes", refused},
		{"460,000 lines and a command", fields{"script": head(run{"#EP 1x1s\n", 460_000}, run{"srun x\n", 1})}, "longer than 65536 bytes", refused},
		{"4 MB of newlines", fields{"script": head(run{"\n", huge})}, "longer than 65536 bytes", 0},
		{"4 MB of indented newlines", fields{"script": head(run{"\n ", huge / 2})}, "longer than 65536 bytes", 0},
		{"4 MB of comments", fields{"script": head(run{"#\n", huge / 2})}, "longer than 65536 bytes", 0},
		{"4 MB of look-alikes", fields{"script": head(run{"#EPX\n", huge / 5})}, "longer than 65536 bytes", 0},
		{"one line of 4 MB", fields{"script": head(run{"#", huge})}, "longer than 65536 bytes", 0},
		{"a command and 4 MB of requests", fields{"script": head(run{"srun x\n", 1}, run{"#EP 1x1s\n", 460_000})}, "line 3: \"#EP 1x1s\" is not read", 0},
		{"look-alikes of steps", fields{"script": head(run{"#mp 5x5s\n", 7000}, run{"srun x\n", 1})}, "", 0},
		{"look-alikes without a unit", fields{"script": head(run{"#ep 5x5mm\n", 6000}, run{"srun x\n", 1})}, "", 0},
		{"blanks in look-alikes", fields{"script": head(run{"  #  mold :  5 x", 1}, run{" ", 60_000}, run{"\nsrun x\n", 1})}, "", 0},
		{"digits of a look-alike", fields{"script": head(run{"#EP:", 1}, run{"5", 60_000}, run{"\nsrun x\n", 1})}, "", 0},
		{"look-alikes after a command", fields{"script": head(run{"srun x\n", 1}, run{"  # mo  5x5s\n", 5000}, run{"#mold a:x\n", 900})}, "", 0},
		{"7,000 lines within the bound", fields{"script": head(run{"#EP 1x1s\n", 7000}, run{"srun x\n", 1})}, "within the 1024 steps", refused},
		{"1,024 steps", fields{"script": head(run{"#EP 1x1s\n#EP 2x1h2m3s\n", 512}, run{"srun x\n", 1})}, "", 0},
		{"30,000 separators", fields{"script": head(run{"#EP ", 1}, run{",", 30_000}, run{"\nsrun x\n", 1})}, "NODESxDURATION", refused},
		{"60,000 alternatives", fields{"script": head(run{"#EP ", 1}, run{"1x1s|", 12_000}, run{"1x1s\nsrun x\n", 1})}, "256 alternatives", refused},
		{"blanks before the end", fields{"script": head(run{"#EP 1x1s", 1}, run{" ", 60_000}, run{"x\nsrun x\n", 1})}, "no blanks", refused},
		{"60,000 digits", fields{"script": head(run{"#EP ", 1}, run{"1", 60_000}, run{"\nsrun x\n", 1})}, "NODESxDURATION", refused},
		{"60,000 digits of a duration", fields{"script": head(run{"#EP 1x", 1}, run{"1", 60_000}, run{"\nsrun x\n", 1})}, "a duration", refused},
		{"60,000 zeros of a model", fields{"script": head(run{"#MOLD amdahl:p=0.9,t1=", 1}, run{"0", 60_000}, run{"1h,nodes=1-4\nsrun x\n", 1})}, "", 0},
		{"a comment of 4 MB", fields{"comment": runs{{"ep=", 1}, {"1x1s,", huge / 5}}}, "longer than 65536 bytes", refused},
		{"a comment of equations", fields{"comment": runs{{"ep=1x1s", 1}, {" a=b", 16_000}}}, "", 0},
		{"a comment of launches", fields{"comment": runs{{"launch=1", 1}, {" a=b", 16_000}}}, "", 0},
		{"a comment of letters", fields{"comment": runs{{"a", huge}}}, "", 0},
		{"an option of 4 MB", fields{"spank": runs{{"_SLURM_SPANK_OPTION_accordion_ep=", 1}, {"1x1s,", huge / 5}}}, "longer than 65536 bytes", refused},
		{"an option of a long name", fields{"spank": runs{{"_SLURM_SPANK_OPTION_accordion_", 1}, {"e", huge}}}, "", 0},
		{"100,000 options", fields{"spank": runs{{"_SLURM_SPANK_OPTION_other_x=1\n", 100_000}}}, "more than 1024 options", 0},
		{"features", fields{"comment": "ep=1x1m", "features": runs{{"a&", huge / 2}}}, "--constraint", 2014},
		{"features that there are", fields{"comment": "ep=1x1m", "features": runs{{"ib&", huge / 3}}}, "", 0},
		{"generic resources", fields{"comment": "ep=1x1m", "tres_per_node": runs{{"gres:gpu:1,", huge / 11}}}, "", 0},
		{"generic resources of an ordinary job", fields{"tres_per_node": runs{{"gres:gpu:1,", huge / 11}}, "tres_per_task": runs{{"a:1:", huge / 4}}}, "", 0},
		{"a name", fields{"name": runs{{"accordion-", 1}, {"a", huge}}}, "", 0},
		{"a dependency", fields{"dependency": runs{{"e", huge}}}, "", 0},
		{"a reservation", fields{"reservation": runs{{",", huge}}}, "", 0},
		{"a partition", fields{"comment": "ep=1x1m", "partition": runs{{",", huge}}}, "", 0},
		{"a partition of sharing", fields{"shared": int64(1), "partition": runs{{",mai", huge / 4}}}, "", 0},
	}
	jobs := make([]fields, len(tests))
	for i := range tests {
		jobs[i] = tests[i].job
	}
	for i, got := range timed(t, jobs) {
		said, _ := got["user"].(string)
		if got["rc"] != tests[i].rc || (said == "") != (tests[i].says == "") || !strings.Contains(said, tests[i].says) || len(said) > 400 {
			t.Errorf("%s: rc %v, %q; want %d and a line with %q", tests[i].name, got["rc"], said, tests[i].rc, tests[i].says)
		}
		if took(got) >= longestAllowed {
			t.Errorf("%s took %v", tests[i].name, took(got))
		}
		if reads, _ := got["reads"].(int64); reads > 1 {
			t.Errorf("%s: the script was copied %d times", tests[i].name, reads)
		}
	}
}

// hostileUnits are the pieces that hostile texts repeat.
var hostileUnits = []string{
	"\n", " ", "\t", "\r", "\f\v", "#ep ", "#mp 5x5s\n", " # mold: 5x5mm\n", "#mold a:a", "#EP:", "#", "#\n", "\n#", "#EP\n", "#EP ", "#EPX\n", "#MOLD ", "#EP 1x1s\n", "#EP 2x1h2m3s,1x5s\n", "#MOLD 4x2h|8x70m\n", "#MOLD 1x1s\n",
	"#SBATCH -n4\n", " #EP 1x1s\n", "1", "0", "x", "1x1s", "1x1s,", "1x1s|", "2x1h2m3s,1x1d2h3m4s,", ",", "|", "5x", ":", "1:", "00:", "-", "1-", "d", "1d1h1m1s", "amdahl:p=0.99,t1=10h,nodes=1-256",
	"amdahl:", "downey:a=64,sigma=1,t1=", "p=", ",nodes=1-256", "^2", ".", "0.", "ep=", " ep=1x1s", "mold=", " launch=7", "launch=", "a=b ", " =", "=", "a", "A", "%", "%s", "[", "]", "[1-3]", "n[1-9],", "*", "&",
	"expand:", "EXPAND:7", "?", "afterok:1,", "accordion-", "accordion-grow-7", "grow-", ",accordion", "main,", "\x00", "\xff", "\x1b[2J", "\\", "\"", "echo\n", "_SLURM_SPANK_OPTION_accordion_ep=", "_SLURM_SPANK_OPTION_accordion_mold=1x1s\n",
}

// hostileText returns runs of at most `most` bytes. Half of the texts have about 64 KiB.
func hostileText(random *rand.Rand, most int) runs {
	left := random.IntN(most) + 1
	if random.IntN(2) == 0 {
		left = min(most, 60_000+random.IntN(8000))
	}
	var text runs
	for range 1 + random.IntN(5) {
		unit := hostileUnits[random.IntN(len(hostileUnits))]
		if random.IntN(4) == 0 {
			unit += hostileUnits[random.IntN(len(hostileUnits))]
		}
		times := 1
		if random.IntN(3) > 0 {
			times = 1 + random.IntN(max(1, left/len(unit)))
		}
		left -= times * len(unit)
		if text = append(text, run{unit, times}); left <= 0 {
			break
		}
	}
	return text
}

// hostileJob returns a submission with huge texts, mostly in the script or the comment.
func hostileJob(random *rand.Rand) fields {
	job := fields{}
	size := 100_000
	if random.IntN(60) == 0 {
		size = 4 << 20
	}
	starts := []string{"#!/bin/sh\n", "#!/bin/sh\n#EP 1x1s\n", "#!/bin/sh\n#EP ", "#!/bin/sh\n#MOLD ", ""}
	if random.IntN(3) > 0 {
		text := append(runs{{starts[random.IntN(len(starts))], 1}}, hostileText(random, size)...)
		if random.IntN(2) == 0 {
			text = append(text, run{"\nsrun hostname\n", 1})
		}
		job["script"] = text
	}
	starts = []string{"ep=", "ep=1x1s", "ep=1x1s ", "mold=", "launch=7 ", ""}
	if random.IntN(3) == 0 {
		job["comment"] = append(runs{{starts[random.IntN(len(starts))], 1}}, hostileText(random, size)...)
	}
	if random.IntN(4) == 0 {
		job["spank"] = append(runs{{[]string{"_SLURM_SPANK_OPTION_accordion_ep=", "_SLURM_SPANK_OPTION_accordion_mold=", "x\n"}[random.IntN(3)], 1}}, hostileText(random, 70_000)...)
	}
	for _, name := range []string{"name", "dependency", "reservation", "partition", "features", "req_nodes", "exc_nodes", "account", "qos", "tres_per_job", "tres_per_node", "tres_per_task", "array_inx"} {
		if random.IntN(30) == 0 {
			job[name] = hostileText(random, size)
		}
	}
	return job
}

func TestOfTenThousandHostileSubmissionsHardlyOneTakesThePluginFiveMilliseconds(t *testing.T) {
	seed := *luaSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	random := rand.New(rand.NewPCG(seed, 1))
	jobs := make([]fields, 10_000)
	for i := range jobs {
		jobs[i] = hostileJob(random)
	}
	results := timed(t, jobs)
	slow, all := 0, make([]time.Duration, len(results))
	for i, got := range results {
		all[i] = took(got)
		if all[i] >= longestAllowed {
			if slow++; slow <= 10 {
				t.Logf("%v: %v", all[i], jobs[i])
			}
		}
		if said, _ := got["user"].(string); len(said) > 400 || strings.IndexFunc(said, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
			t.Errorf("job %d of seed %d is answered with %q", i, seed, said)
		}
	}
	slices.Sort(all)
	t.Logf("seed %d: median %v, 99 %% below %v, 99.9 %% below %v, longest %v", seed, all[len(all)/2], all[len(all)*99/100], all[len(all)*999/1000], all[len(all)-1])
	if slow > len(all)/1000 {
		t.Errorf("%d of %d submissions took %v or more: -args -accordion.luaseed=%d", slow, len(all), longestAllowed, seed)
	}
}

func TestLimitsOfTwentyThousandAssociationsAreReadOnce(t *testing.T) {
	var limits strings.Builder
	limits.WriteString("-- sha256:0123abcd\nreturn { associations = {\n")
	for i := range 20_000 {
		fmt.Fprintf(&limits, "[\"account%d/%d\"] = { nodes = 4, why = \"MaxTRESPerJob of user u%d is cpu=%d\" },\n", i%500, i, i, i)
	}
	limits.WriteString("}, parents = {}, qos = {} }\n")
	var jobs []fields
	for range 5 {
		jobs = append(jobs, fields{"comment": "ep=1x1m,5x1m", "account": "ACCOUNT7", "user_id": int64(7), "timed": int64(1)})
	}
	for i, got := range submitWithLimits(t, 16, limits.String(), jobs) {
		if said, _ := got["user"].(string); got["rc"] != refused || !strings.Contains(said, "you may have 4") {
			t.Errorf("job %d: %v %q", i, got["rc"], said)
		}
		if i > 0 && took(got) >= longestAllowed {
			t.Errorf("job %d took %v", i, took(got))
		}
	}
}
