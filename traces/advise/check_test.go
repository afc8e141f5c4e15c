package advise

import (
	"flag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/core"
	"accordion/core/ep/eptest"
	"accordion/core/moldable"
)

var seed = flag.Uint64("accordion.seed", 1, "seed of random texts of requests")

func TestRequestIsParsedInEveryForm(t *testing.T) {
	for _, c := range []struct {
		text, word, want string
		loose            bool
	}{
		{"5x500s,10x1h", "ep", "5x8m20s,10x1h", false},
		{" ep=5x500s ", "ep", "5x8m20s", false},
		{"#EP\t2x20m,5x1h", "ep", "2x20m,5x1h", false},
		{"--ep=2x20m", "ep", "2x20m", false},
		{`--comment="ep=2x20m"`, "ep", "2x20m", false},
		{`#SBATCH --comment='mold=4x2h|8x70m'`, "mold", "4x2h|8x1h10m", false},
		{"#OAR -t ep=2x20m", "ep", "2x20m", false},
		{"sbatch --mold=4x2h|8x70m", "mold", "4x2h|8x1h10m", false},
		{"2x1h,8x1h|4x40m,16x40m", "ep", "2x1h,8x1h|4x40m,16x40m", false},
		{"4x2h|8x70m", "mold", "4x2h|8x1h10m", false},
		{"#MOLD 4x2h", "mold", "4x2h", false},
		{"amdahl:p=0.99,t1=10h,nodes=1-256", "mold", "amdahl:p=0.99,t1=10h,nodes=1-256", false},
		{"2x1.5h", "ep", "2x1h30m", true},
		{"2x20min", "ep", "2x20m", true},
		{"8X1h", "ep", "8x1h", true},
		{"2 x 20m", "ep", "2x20m", true},
		{"#EP 1x20s, 2 X 0.5min", "ep", "1x20s,2x30s", true},
		{"mold=4 x 2h | 8X70min", "mold", "4x2h|8x1h10m", true},
		{"Amdahl: p=0.99, t1=1.5h, nodes=1-8", "mold", "amdahl:p=0.99,t1=1h30m,nodes=1-8", true},
	} {
		r, errs := Check(c.text, 300)
		if len(errs) > 0 || r.Word != c.word || r.Text != c.want || r.Loose != c.loose {
			t.Errorf("Check(%q) = %s=%s, loose %t, %v; want %s=%s, loose %t", c.text, r.Word, r.Text, r.Loose, errs, c.word, c.want, c.loose)
			continue
		}
		parse := moldable.ParseProfiles
		if r.Word == "mold" {
			parse = moldable.Parse
		}
		if again, err := parse(r.Text); err != nil || !cmp.Equal(again, r.Choices) {
			t.Errorf("Check(%q): plug-ins read %s as %v, %v; want %v", c.text, r.Text, again, err, r.Choices)
		}
	}
}

// job_submit.lua and OAR's admission rules judge the same texts in the same way, except that they refuse loose forms.
func TestRandomTextsAreCheckedAsThePlannerParsesThem(t *testing.T) {
	for word, n := range map[string]int{"ep": 10_000, "mold": 5000} {
		parse := moldable.ParseProfiles
		if word == "mold" {
			parse = moldable.Parse
		}
		for _, c := range append(eptest.Random(*seed, n, word), eptest.Cases()...) {
			if c.Word != word {
				continue
			}
			r, errs := Check("#"+strings.ToUpper(word)+" "+c.Text, core.MaxNodes)
			choices, err := parse(c.Text)
			if right := len(errs) == 0 && !r.Loose; right != (err == nil) || right && !cmp.Equal(r.Choices, choices) {
				t.Errorf("-accordion.seed %d: Check(%s, %.60q) = %v, loose %t, %v; the planner: %v, %v", *seed, word, c.Text, r.Choices, r.Loose, errs, choices, err)
			}
			if _, again := parse(r.Text); len(errs) == 0 && again != nil {
				t.Errorf("-accordion.seed %d: Check(%s, %.60q) has %s written, which is %v", *seed, word, c.Text, r.Text, again)
			}
		}
	}
}

func TestMalleableRequestIsRefusedWithItsOwnMessage(t *testing.T) {
	for _, text := range []string{"16x2h 4-64", "ep=16x2h 4-64", "#EP 1x1h,16x2h 4-64", "mold=16x2h 4-64", "#MALLEABLE 16x2h 4-64", "malleable=16x2h 4-64"} {
		if _, errs := Check(text, 300); len(errs) != 1 || !strings.Contains(errs[0].Error(), "for malleable jobs, which this release does not run") {
			t.Errorf("Check(%q): %v", text, errs)
		}
	}
}

func TestScriptIsParsedAsSbatchParsesIt(t *testing.T) {
	for _, c := range []struct{ name, script, want, wrong string }{
		{"lines go on", "#!/bin/sh\n#EP 2x20m,5x1h\n#EP 3x10m\nsrun a\n", "ep=2x20m,5x1h,3x10m", ""},
		{"configurations go on", "#!/bin/sh\n#MOLD 2x20m\n#MOLD 4x10m\n", "mold=2x20m|4x10m", ""},
		{"an option", "#!/bin/sh\n#SBATCH -p main --comment=\"ep=2x20m own words\" -n 2\na", "ep=2x20m", ""},
		{"the same twice", "#EP 2x20m\n#SBATCH --ep=2x1200s\n", "ep=2x20m", ""},
		{"two requests", "#EP 2x20m\n#SBATCH --ep=3x20m\n", "", "the script's #EP line says 2x20m, and its #SBATCH or #OAR line 3x20m: a job has one request"},
		{"both kinds", "#EP 2x20m\n#MOLD 3x20m\n", "", "moldable configurations, script line 2: the script has another request before it: a job has one"},
		{"none", "#!/bin/sh\nsrun a\n", "", "the script has no request: "},
		{"a remark", "#!/bin/sh\n# 2 x 4 cores\n#EP 2x20m\n", "ep=2x20m", ""},
		{"a malleable job", "#!/bin/sh\n#MALLEABLE 16x2h 4-64\n", "", "script line 2: #MALLEABLE is reserved for malleable jobs"},
		{"left out", "##EP 9x9h\n#EP 2x20m\n", "ep=2x20m", ""},
		{"indented", " #EP 2x20m\n", "", `evolution profile, script line 1, column 1: " #EP " is not how a request begins: write #EP 2x20m in a script`},
		{"loose", "#EP 2 x 20min\n", "", `evolution profile, script line 1, column 5: "2 x 20min" is not as sbatch and oarsub read it: write 2x20m`},
		{"too late", "srun a\n#EP 2x20m\n", "", `evolution profile, script line 2: "#EP 2x20m" is after the first command, where it is not read: move it up`},
		{"too many nodes", "#EP 2x20m,400x1h\n", "", `evolution profile, script line 1, column 11: "400x1h" is not within the machine's 300 nodes`},
	} {
		r, errs := CheckScript(c.script, 300)
		got := ""
		if len(errs) > 0 {
			got = errs[0].Error()
		}
		if c.wrong != "" && !strings.HasPrefix(got, c.wrong) || c.wrong == "" && (got != "" || r.Word+"="+r.Text != c.want) {
			t.Errorf("%s: %s=%s, %s; want %s%s", c.name, r.Word, r.Text, got, c.want, c.wrong)
		}
	}
}
