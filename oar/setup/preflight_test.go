package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"accordion/adapter"
)

// wrongOf returns the severity and the name of each check that finds something.
func wrongOf(all []check) (names []string) {
	for _, c := range all {
		if c.wrong {
			names = append(names, fmt.Sprintf("%s %s", c.severity, c.name))
		}
	}
	return names
}

func TestWrongConfigurationsOfOARAreFound(t *testing.T) {
	dir := t.TempDir()
	s := Setup{File: filepath.Join(dir, "oar.conf"), OARDir: dir}
	if err := os.Mkdir(filepath.Join(dir, "schedulers"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{s.wrapperPath(), filepath.Join(dir, "schedulers", SchedulerName)} {
		if err := os.WriteFile(program, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	well := fmt.Sprintf("%s=\"%s\"\nPROLOGUE_EXEC_FILE=\"accordion oar prologue\"\nOAR_RUNTIME_DIRECTORY=/var/lib/oar\nSCHEDULER_MIN_TIME_BETWEEN_2_CALLS=1\n", epilogueSetting, s.wrapperPath())
	for _, c := range []struct {
		name, text string
		between    int64
		want       string
	}{
		{"all is well", well, 5, ""},
		{"nothing is set", "", 5, "warning the epilogue's name, warning the prologue, warning the runtime folder, note between two passes, not set"},
		{"another's epilogue", well + epilogueSetting + "=/site\n", 5, "warning the epilogue's name"},
		{"another's prologue", well + "PROLOGUE_EXEC_FILE=/site\n", 5, "warning the prologue"},
		{"the runtime folder is in a shared one", well + "OAR_RUNTIME_DIRECTORY=/var/tmp/oar/\n", 5, "warning the runtime folder"},
		{"long pauses", well + "SCHEDULER_MIN_TIME_BETWEEN_2_CALLS=4\n", 60, "note between two jobs, note between two passes"},
		{"jobs are made longer", well + "WALLTIME_CHANGE_ENABLED=YES\n", 5, "note jobs made longer"},
		{"nodes sleep", well + "ENERGY_SAVING_INTERNAL=yes\n", 5, "warning nodes that sleep"},
		{"nodes are put to sleep", well + "SCHEDULER_NODE_MANAGER_SLEEP_CMD=/off\n", 5, "warning nodes that sleep"},
	} {
		s.Conf.SecurityTime = c.between
		if got := strings.Join(wrongOf(s.checkConf(c.text)), ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, program := range []string{s.wrapperPath(), filepath.Join(dir, "schedulers", SchedulerName)} {
		if err := os.Chmod(program, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := wrongOf(s.checkConf(well)); !slices.Equal(got, []string{"fatal the scheduler's link", "fatal the epilogue"}) {
		t.Errorf("programs that cannot be run: %q", got)
	}
}

// Every finding that is more severe than a note must say what to do.
func TestChecksHaveNamesAndSevereOnesAHint(t *testing.T) {
	s := Setup{File: "/etc/oar/oar.conf"}
	seen := map[string]bool{}
	for _, c := range s.checkConf("") {
		if seen[c.name] || c.name == "" || c.says == "" || (c.fix == "") != (c.severity == adapter.Note) {
			t.Errorf("check %+v", c)
		}
		seen[c.name] = true
	}
}

func TestMostSevereFindingComesFirst(t *testing.T) {
	got := findings([]check{{"a", adapter.Note, true, "1", ""}, {"b", adapter.Warning, false, "2", "x"}, {"c", adapter.Warning, true, "3", "x"}, {"d", adapter.Fatal, true, "4", "x"}, {"e", adapter.Warning, true, "5", "x"}})
	var order string
	for _, f := range got {
		order += f.What
	}
	if order != "4351" {
		t.Errorf("told in the order %s", order)
	}
}
