package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/slurm/growth"
	"accordion/slurm/output"
	"accordion/slurm/output/outputtest"
)

// TestPreflightFindsWhatIsWrong introduces one fault at a time into a healthy cluster.
func TestPreflightFindsWhatIsWrong(t *testing.T) {
	read := func() (output.Configuration, output.Inventory) {
		c, err := output.ParseConfiguration(outputtest.Recorded(t, "config.txt"))
		if err != nil {
			t.Fatal(err)
		}
		in, err := output.ParseInventory(outputtest.Recorded(t, "scontrol.txt"))
		if err != nil {
			t.Fatal(err)
		}
		c["SLURM_VERSION"], c["JobSubmitPlugins"], c["SLURM_CONF"] = "24.11.1", "lua", filepath.Join(t.TempDir(), "slurm.conf")
		plugin := filepath.Join(filepath.Dir(c["SLURM_CONF"]), "job_submit.lua")
		if err := os.WriteFile(plugin, []byte(`local MARK = "accordion:" -- _SLURM_SPANK_OPTION_accordion_`), 0o600); err != nil {
			t.Fatal(err)
		}
		c["PlugStackConfig"] = filepath.Join(filepath.Dir(c["SLURM_CONF"]), "plugstack.conf")
		if err := os.WriteFile(c["PlugStackConfig"], []byte("# ours\noptional /opt/accordion.so\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return c, in
	}
	older := func(c output.Configuration, _ output.Inventory) {
		plugin := filepath.Join(filepath.Dir(c["SLURM_CONF"]), "job_submit.lua")
		if err := os.WriteFile(plugin, []byte(`local MARK = "accordion:"`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	withoutOptions := func(c output.Configuration, _ output.Inventory) {
		c["JobSubmitPlugins"] = ""
		if err := os.WriteFile(c["PlugStackConfig"], []byte("#optional accordion.so\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	find := func(c output.Configuration, in output.Inventory) []adapter.Finding {
		found := append(checkSettings(t.Context(), c), checkPool(c, in, []string{"main"})...)
		return slices.DeleteFunc(append(append(found, checkPlugin(c)...), checkOptions(c)...), func(f adapter.Finding) bool { return strings.Contains(f.What, "partition shared has 8") })
	}
	if found := find(read()); len(found) != 0 {
		t.Errorf("a healthy cluster: %v", found)
	}
	for _, c := range []struct {
		severity adapter.Severity
		says     string
		spoil    func(output.Configuration, output.Inventory)
	}{
		{adapter.Fatal, "older than 20.11", func(c output.Configuration, _ output.Inventory) { c["SLURM_VERSION"] = "20.02.7" }},
		{adapter.Fatal, "slurmdbd does not answer", func(c output.Configuration, _ output.Inventory) {
			c["SLURM_VERSION"], c["AccountingStorageHost"], c["AccountingStoragePort"] = "22.05.8", "127.0.0.1", "1"
		}},
		{adapter.Fatal, "get the cores of managed", func(_ output.Configuration, in output.Inventory) {
			in.Partitions[0].Exclusive, in.Partitions[0].OverSubscribe = false, "FORCE:4"
		}},
		{adapter.Fatal, `no partition "main"`, func(_ output.Configuration, in output.Inventory) { in.Partitions[0].Name = "renamed" }},
		{adapter.Fatal, "has no nodes", func(_ output.Configuration, in output.Inventory) { in.Partitions[0].Nodes = nil }},
		{adapter.Warning, "main is DOWN", func(_ output.Configuration, in output.Inventory) { in.Partitions[0].State = "DOWN" }},
		{adapter.Warning, "OverTimeLimit is UNLIMITED", func(c output.Configuration, _ output.Inventory) { c["OverTimeLimit"] = "UNLIMITED" }},
		{adapter.Warning, "BatchStartTimeout is 10 s", func(c output.Configuration, _ output.Inventory) { c["BatchStartTimeout"] = "10 sec" }},
		{adapter.Fatal, "main has PreemptMode=REQUEUE", func(c output.Configuration, in output.Inventory) {
			c["PreemptType"], in.Partitions[0].Preempt = "preempt/partition_prio", "REQUEUE"
		}},
		{adapter.Warning, "PreemptType is preempt/qos", func(c output.Configuration, _ output.Inventory) { c["PreemptType"] = "preempt/qos" }},
		{adapter.Warning, "is not in use", withoutOptions},
		{adapter.Warning, "does not read them", older},
		{adapter.Note, "cannot be seen from here", func(c output.Configuration, _ output.Inventory) { c["SLURM_CONF"] = "/nowhere/slurm.conf" }},
	} {
		conf, in := read()
		c.spoil(conf, in)
		found := find(conf, in)
		if len(found) != 1 || found[0].Severity != c.severity || !strings.Contains(found[0].What, c.says) || (found[0].Fix == "") != (c.severity == adapter.Note) {
			t.Errorf("%s: found %v", c.says, found)
		}
	}
}

func TestPreflightNamesTheCommandThatClosesTheRowsOfGrowths(t *testing.T) {
	c, err := output.ParseConfiguration(outputtest.Recorded(t, "config.txt"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := output.ParseInventory(outputtest.Recorded(t, "scontrol.txt"))
	if err != nil {
		t.Fatal(err)
	}
	c["SLURM_VERSION"], c["SchedulerParameters"] = "24.11.1", "permit_job_expansion"
	for _, test := range []struct {
		wish growth.Kind
		want bool
	}{{growth.Auto, true}, {growth.Companions, false}} {
		found := checkGrowth(growth.SiteOf(c), in, []string{"main"}, test.wish)
		if got := slices.ContainsFunc(found, func(f adapter.Finding) bool { return strings.Contains(f.What, "`sacctmgr show runawayjobs`") }); got != test.want {
			t.Errorf("%s: told %v, want %v: %v", test.wish, got, test.want, found)
		}
	}
}
