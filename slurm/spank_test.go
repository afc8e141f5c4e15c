package slurm_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"accordion/internal/testenv"
)

func TestAnOptionIsTakenAsTheScriptsLineIs(t *testing.T) {
	const ep, mold = "_SLURM_SPANK_OPTION_accordion_ep=", "_SLURM_SPANK_OPTION_accordion_mold="
	const script = "#!/bin/sh\n#EP 2x20s,5x20s\n"
	for name, test := range map[string]struct {
		job  fields
		mark string // "" if the submission is refused
		says string
	}{
		"a profile":                  {fields{"spank": ep + "2x20s,5x20s"}, "accordion:ep=2x20s,5x20s", ""},
		"a model":                    {fields{"spank": mold + "amdahl:p=1,t1=1h,nodes=2-8^2"}, "accordion:mold=amdahl:p=1,t1=1h,nodes=2-8^2", ""},
		"alternatives":               {fields{"spank": ep + "2x1h,4x1h|4x40m"}, "accordion:ep=2x1h,4x1h|4x40m", ""},
		"configurations":             {fields{"spank": mold + "4x2h|8x70m"}, "accordion:mold=4x2h|8x1h10m", ""},
		"beside other plug-ins":      {fields{"spank": "X11=1\n_SLURM_SPANK_OPTION_x_ep=no\n" + ep + "2x20s"}, "accordion:ep=2x20s", ""},
		"the same in the script":     {fields{"script": script, "spank": ep + "2x20s,5x10s,5x10s"}, "accordion:ep=2x20s,5x20s", ""},
		"the same in all three":      {fields{"script": script, "spank": ep + "2x20s,5x20s", "comment": "ep=2x20s,5x20s"}, "accordion:ep=2x20s,5x20s", ""},
		"another one in the script":  {fields{"script": script, "spank": ep + "2x20s"}, "", "--ep says something else than the script's #EP line: say it once"},
		"another kind in the script": {fields{"script": script, "spank": mold + "2x40s"}, "", "--mold says something else than the script's #EP line: say it once"},
		"another one in the comment": {fields{"comment": "ep=2x20s", "spank": ep + "2x21s"}, "", "the comment's ep= says something else than --ep: say it once"},
		"both options":               {fields{"spank": ep + "2x20s\n" + mold + "2x20s"}, "", "--ep and --mold in one job"},
		"nothing":                    {fields{"spank": ep}, "", `--ep, column 1: "" is not NODESxDURATION`},
		"as long as may be":          {fields{"spank": ep + strings.Repeat(" ", 65531) + "2x20s"}, "accordion:ep=2x20s", ""},
		"too long":                   {fields{"spank": ep + strings.Repeat(" ", 65532) + "2x20s"}, "", "is longer than 65536 bytes: write 5x500s,10x1h"},
		"a wrong one":                {fields{"spank": ep + "2x500"}, "", `--ep, column 3: "500" is not a duration`},
		"other nodes":                {fields{"spank": ep + "2x20s", "min_nodes": int64(3)}, "", "--nodes contradicts"},
		"too many nodes":             {fields{"spank": ep + "2x20s,17x20s"}, "", `"17x20s" is more than the 16 nodes`},
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

func TestTheSpankPluginIsBuiltByItsScript(t *testing.T) {
	testenv.Program(t, "gcc")
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
		// An exported name with another beginning could replace one of the client's own.
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
