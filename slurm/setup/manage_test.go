package setup

import (
	"os"
	"path/filepath"
	"testing"

	"accordion/slurm/output"
)

func TestPreflightSaysWhichJobsAreTheSidecars(t *testing.T) {
	in := output.Inventory{Partitions: []output.Partition{{Name: "main", Nodes: []string{"n1"}}, {Name: "shared", Nodes: []string{"n1"}}}}
	const plugin = `local MARK = "accordion:"` + "\n" + `if site.manage ~= "all" then return end`
	for _, c := range []struct {
		name, plugin, site string
		all                bool
		want               []string
	}{
		{"told", plugin, `return { partitions = { "main" } }`, false, []string{"note: manage = \"told\""}},
		{"told, and the plug-in not", plugin, `return { manage = "all", partitions = { "main" } }`, false, []string{"note: manage = \"told\"", "warning: accordion.lua says manage"}},
		{"all", plugin, "return {\n\tmanage = 'all', partitions = { \"main\" } }", true, []string{"note: manage = \"all\"", "warning: partition shared has nodes"}},
		{"all, and the plug-in not", plugin, `return { partitions = { "main" } } -- manage = "all"`, true,
			[]string{"note: manage = \"all\"", "fatal: manage = \"all\" needs the plug-in", "warning: partition shared has nodes"}},
		{"all, and an older plug-in", `local MARK = "accordion:"`, `return { manage = "all" }`, true,
			[]string{"note: manage = \"all\"", "fatal: manage = \"all\" needs the plug-in", "warning: partition shared has nodes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := output.Configuration{"JobSubmitPlugins": "lua", "SLURM_CONF": filepath.Join(t.TempDir(), "slurm.conf")}
			for name, text := range map[string]string{"job_submit.lua": c.plugin, "accordion.lua": c.site} {
				if err := os.WriteFile(filepath.Join(filepath.Dir(conf["SLURM_CONF"]), name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			found := CheckManage(conf, in, []string{"main"}, c.all)
			if len(found) != len(c.want) {
				t.Fatalf("%v, want %v", found, c.want)
			}
			for i, want := range c.want {
				if got := found[i].String(); len(got) < len(want) || got[:len(want)] != want {
					t.Errorf("%s, want %s…", got, want)
				}
			}
		})
	}
	away := output.Configuration{"JobSubmitPlugins": "lua", "SLURM_CONF": "/nowhere/slurm.conf"}
	if found := CheckManage(away, in, []string{"main"}, true); len(found) != 3 || found[1].Severity != "note" {
		t.Errorf("from another host: %v", found)
	}
}
