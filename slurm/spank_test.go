package slurm_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"accordion/core/mold"
	"accordion/scripts/testenv"
)

// compiler is the C compiler of the SPANK plug-in; without one the test is skipped.
func compiler(t testing.TB) string {
	t.Helper()
	return testenv.Program(t, "gcc")
}

// request is one text for the SPANK plug-in.
type request struct {
	mold bool
	text string
}

// sanitizers are the compiler's. The address sanitizer of older compilers dies now and then where the kernel spreads
// addresses over more than 28 bits.
func sanitizers() string {
	if bits, err := os.ReadFile("/proc/sys/vm/mmap_rnd_bits"); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(bits))); err == nil && n <= 28 {
			return "-fsanitize=address,undefined"
		}
	}
	return "-fsanitize=undefined"
}

// buildJudge compiles the SPANK plug-in's grammar, so that it dies of a step over an end or of undefined behavior.
func buildJudge(t testing.TB) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "judge")
	build := exec.CommandContext(t.Context(), compiler(t), "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-g", "-O1", "-Wall", "-Wextra",
		"-Wpedantic", "-Werror", sanitizers(), "-fno-sanitize-recover=all", "-o", program, "testdata/judge.c", "spank/request.c", "spank/model.c", "spank/span.c")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	return program
}

// judge gives texts to that, and returns what it says of each: "" when it takes it.
func judge(t testing.TB, requests []request) []string {
	t.Helper()
	program := buildJudge(t)
	var input bytes.Buffer
	for _, r := range requests {
		kind := 0
		if r.mold {
			kind = 1
		}
		fmt.Fprintf(&input, "%d %s\n", kind, hex.EncodeToString([]byte(r.text)))
	}
	c := exec.CommandContext(t.Context(), program)
	c.Stdin = &input
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("judge: %v\n%s", err, errs.String())
	}
	said := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(said) != len(requests) {
		t.Fatalf("%d texts gave %d answers", len(requests), len(said))
	}
	return said
}

// asOption is a job submitted with --ep= or --mold=, as slurmctld shows it to job_submit.lua.
func asOption(r request) fields {
	word := "ep"
	if r.mold {
		word = "mold"
	}
	return fields{"spank": "_SLURM_SPANK_OPTION_accordion_" + word + "=" + r.text}
}

// What the client refuses must be what slurmctld and the planner refuse, in the same words, and nothing else.
func TestTheSpankPluginJudgesEveryTextAsThePlannerAndJobSubmitDo(t *testing.T) {
	var all []request
	odd := []string{"amdahl:p=0.5,t1=1h,nodes=1-4", "amdahl:p=1.0000000,t1=1h,nodes=1-4", "amdahl:p=0.1234567,t1=1h,nodes=1-4", "amdahl:p=1.,t1=1h,nodes=1-4",
		"downey:a=00000001,sigma=1,t1=1h,nodes=1-4", "amdahl:p=0.9,t1=1h,nodes=1-4,x=1", "amdahl:p=0.9,t1=1h,nodes=1-1000000^2", "amdahl:p=0.9,t1=1h,nodes=1000000-1000001",
		"amdahl:p=0.9,t1=1h,nodes=^2", "amdahl:p=0.9,t1=1h,nodes=-", "amdahl:p=0.9,,nodes=1-4", "Amdahl:p=1", "a:", ":", " amdahl:p=0.9,t1=0s,nodes=1-4 ",
		strings.Repeat("1x1h|", 256) + "1x1h,2x1h", strings.Repeat("1x3649d,2x1d|", 255) + "1x1h", strings.Repeat("1x1h|", 256) + "bad"}
	for _, text := range slices.Concat(mutated(4000), texts, models(2000), odd) {
		if !strings.ContainsAny(text, "\x00\n") { // no argument of a program has the first, and the stand-in's list not the other
			all = append(all, request{mold: false, text: text}, request{mold: true, text: text})
		}
	}
	jobs := make([]fields, len(all))
	for i, r := range all {
		jobs[i] = asOption(r)
	}
	inLua := submit(t, 1_000_000, jobs)
	accepted := 0
	for i, said := range judge(t, all) {
		r := all[i]
		_, err := mold.ParseProfiles(r.text)
		if r.mold {
			_, err = mold.Parse(r.text)
		}
		if said == "" {
			accepted++
			if err != nil || inLua[i]["rc"] != int64(0) {
				t.Errorf("%v %.60q is taken; the planner says %v, job_submit.lua %v", r.mold, r.text, err, inLua[i]["user"])
			}
			continue
		}
		if err == nil || !printable(said) || len(said) > 400 {
			t.Errorf("%v %.60q is refused with %q; the planner says %v", r.mold, r.text, said, err)
			continue
		}
		if printable(r.text) && said != err.Error() {
			t.Errorf("%v %.60q is refused with\n%s\nthe planner says\n%v", r.mold, r.text, said, err)
		}
		// job_submit.lua says also which option it was.
		lua, _ := inLua[i]["user"].(string)
		if lua = strings.NewReplacer("--ep, ", "", "--mold, ", "").Replace(lua); lua != "accordion: "+said {
			t.Errorf("%v %.60q is refused with\n%s\njob_submit.lua says\n%s", r.mold, r.text, said, lua)
		}
	}
	if accepted < 200 || accepted > len(all)-200 {
		t.Errorf("%d of %d texts were accepted: the comparison says little", accepted, len(all))
	}
}

func printable(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

func TestATextTooLongForJobSubmitIsTooLongForTheClient(t *testing.T) {
	long := strings.Repeat("2x1s,", 1<<14)
	for length, want := range map[int]bool{65535: true, 65536: true, 65537: false} {
		text := (long + "2x10s")[:length-5] + "2x10s"
		r := request{text: text}
		said, lua := judge(t, []request{r})[0], submit(t, 1_000_000, []fields{asOption(r)})[0]
		if tooLong := strings.Contains(said, "is longer than 65536 bytes"); tooLong == want || (lua["rc"] == int64(0)) != (said == "") {
			t.Errorf("%d bytes: the client says %q, job_submit.lua %v: %v", length, said, lua["rc"], lua["user"])
		}
	}
}

func TestAnOptionIsTakenAsTheScriptsLineIs(t *testing.T) {
	const ep, mold = "_SLURM_SPANK_OPTION_accordion_ep=", "_SLURM_SPANK_OPTION_accordion_mold="
	const script = "#!/bin/sh\n#EP 2x20s,5x20s\n"
	for name, test := range map[string]struct {
		job  fields
		mark string // "" for a refusal
		says string
	}{
		"a profile":                    {fields{"spank": ep + "2x20s,5x20s"}, "accordion:ep=2x20s,5x20s", ""},
		"a model":                      {fields{"spank": mold + "amdahl:p=1,t1=1h,nodes=2-8^2"}, "accordion:mold=amdahl:p=1,t1=1h,nodes=2-8^2", ""},
		"alternatives":                 {fields{"spank": ep + "2x1h,4x1h|4x40m"}, "accordion:ep=2x1h,4x1h|4x40m", ""},
		"configurations":               {fields{"spank": mold + "4x2h|8x70m"}, "accordion:mold=4x2h|8x1h10m", ""},
		"beside other plug-ins":        {fields{"spank": "X11=1\n_SLURM_SPANK_OPTION_x_ep=no\n" + ep + "2x20s"}, "accordion:ep=2x20s", ""},
		"the same in the script":       {fields{"script": script, "spank": ep + "2x20s,5x10s,5x10s"}, "accordion:ep=2x20s,5x20s", ""},
		"the same in all three":        {fields{"script": script, "spank": ep + "2x20s,5x20s", "comment": "ep=2x20s,5x20s"}, "accordion:ep=2x20s,5x20s", ""},
		"another one in the script":    {fields{"script": script, "spank": ep + "2x20s"}, "", "--ep says something else than the script's #EP line: say it once"},
		"another kind in the script":   {fields{"script": script, "spank": mold + "2x40s"}, "", "--mold says something else than the script's #EP line: say it once"},
		"another one in the comment":   {fields{"comment": "ep=2x20s", "spank": ep + "2x21s"}, "", "the comment's ep= says something else than --ep: say it once"},
		"both options":                 {fields{"spank": ep + "2x20s\n" + mold + "2x20s"}, "", "--ep and --mold in one job"},
		"nothing":                      {fields{"spank": ep}, "", `--ep, column 1: "" is not NODESxDURATION`},
		"a text the client never sent": {fields{"spank": ep + "2x500"}, "", `--ep, column 3: "500" is not a duration`},
		"other nodes":                  {fields{"spank": ep + "2x20s", "min_nodes": int64(3)}, "", "--nodes contradicts"},
		"too many nodes":               {fields{"spank": ep + "2x20s,17x20s"}, "", `"17x20s" is more than the 16 nodes`},
	} {
		t.Run(name, func(t *testing.T) {
			got := submit(t, 16, []fields{test.job})[0]
			said, _ := got["user"].(string)
			if test.mark == "" {
				if got["rc"] != refused || !strings.Contains(said, test.says) || strings.ContainsAny(said, "\n\r") {
					t.Errorf("refused with %v: %q; want a line with %q", got["rc"], said, test.says)
				}
				return
			}
			if got["rc"] != int64(0) || got["admin_comment"] != test.mark || got["priority"] != int64(0) {
				t.Errorf("became %v", got)
			}
		})
	}
}

func FuzzSpankRequest(f *testing.F) {
	for _, text := range texts[:60] {
		f.Add(text)
	}
	program := buildJudge(f)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsRune(text, 0) {
			return
		}
		c := exec.CommandContext(t.Context(), program)
		c.Stdin = strings.NewReader("0 " + hex.EncodeToString([]byte(text)) + "\n")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", text, err, out)
		}
		if _, err := mold.ParseProfiles(text); (err == nil) != (string(out) == "\n") && len(text) <= 65536 {
			t.Fatalf("%q: the planner says %v, the SPANK plug-in %s", text, err, out)
		}
	})
}

func TestTheSpankPluginIsBuiltByItsScript(t *testing.T) {
	compiler(t)
	testenv.File(t, "libslurm-dev", "/usr/include/slurm/spank.h")
	plugin := filepath.Join(t.TempDir(), "accordion.so")
	if out, err := exec.CommandContext(t.Context(), "../scripts/build-spank", plugin).CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("build-spank: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), "nm", "-D", "--defined-only", plugin).Output()
	if err != nil {
		t.Fatalf("nm: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		// What else it exported could take the place of one of the client's own names.
		if name := strings.Fields(line)[2]; !strings.HasPrefix(name, "plugin_") && !strings.HasPrefix(name, "spank_plugin_") && name != "slurm_spank_init" {
			t.Errorf("it exports %s", name)
		}
	}
	for _, wrong := range [][]string{{"-h"}, {""}, {"a", "b"}} {
		if out, err := exec.CommandContext(t.Context(), "../scripts/build-spank", wrong...).CombinedOutput(); err == nil || len(out) == 0 {
			t.Errorf("build-spank %q: %v, %s", wrong, err, out)
		}
	}
}
