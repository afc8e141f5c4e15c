package slurm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/internal/lab"
)

// The test adds the lines that setup prints to slurm.conf, as instructed. They prepare a cluster that never had
// Accordion. After they are undone, the folder of slurm.conf is as it was.
func TestSetupMakesABareClusterFitAndTakesItBack(t *testing.T) {
	t.Parallel()
	l := lab.Slurm(t, 2, lab.Fast(), lab.NoPlugin(), lab.Config("BatchStartTimeout=10\nSchedulerParameters=bf_interval=10"))
	if strings.HasPrefix(l.Slurm, "20.") {
		t.Skip("its slurmctld reads the plug-in in /etc/slurm, wherever slurm.conf is")
	}
	folder, config := filepath.Dir(l.Conf()), filepath.Join(t.TempDir(), "own", "accordion.toml")
	before := filesIn(t, folder)
	accordion := func(args ...string) (string, error) {
		c := exec.CommandContext(t.Context(), filepath.Join(l.Dir, "bin", "accordion"), append([]string{"setup", "slurm", "--config", config}, args...)...)
		c.Env = l.Env()
		out, err := c.CombinedOutput()
		return string(out), err
	}

	said, err := accordion("--partition", "main", "--dry-run")
	if diff := cmp.Diff(before, filesIn(t, folder)); diff != "" || !strings.Contains(said, "would be made  "+config) {
		t.Fatalf("a dry run says\n%s, error %v, and changes\n%s", said, err, diff)
	}
	said, err = accordion("--partition", "main")
	lines := regexp.MustCompile(`(?m)^    ([A-Z]\w+=.*)$`).FindAllStringSubmatch(said, -1)
	if len(lines) < 3 {
		t.Fatalf("of slurm.conf, error %v, it says\n%s", err, said)
	}
	for _, line := range lines {
		set(t, l.Conf(), line[1])
	}
	l.Await(t, time.Minute, "a cluster without findings", func() bool {
		reconfigure(t, l)
		said, err = accordion("--partition", "main")
		return err == nil && strings.Contains(said, "has all lines that it needs") && !strings.Contains(said, "job_submit.lua is not in use")
	})
	if _, refused, err := l.Sbatch("alice", "#!/bin/sh\n#EP nonsense\n"); err == nil || !strings.Contains(refused, "accordion:") {
		t.Errorf("a wrong line #EP is not refused: %s", refused)
	}

	if said, err := accordion("--remove"); err == nil || !strings.Contains(said, "nothing was removed: slurmctld reads") {
		t.Errorf("it was removed below slurmctld: %s", said)
	}
	sidecar := &process{t: t, lab: l, config: config, log: filepath.Join(l.Dir, "log", "accordion.log"),
		within: []string{"unshare", "--mount", "sh", "-c", // the configuration's default paths, on this machine
			"for d in /var/lib/accordion /run/accordion; do mkdir -p $d && mount -t tmpfs -o mode=700 none $d; done && exec \"$@\"", "sh"}}
	sidecar.start()
	t.Cleanup(sidecar.stop)
	text, err := os.ReadFile(l.Conf())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.Conf(), []byte(strings.ReplaceAll(string(text), "\nJobSubmitPlugins=lua\n", "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	l.Await(t, time.Minute, "a slurmctld that unloads the plug-in", func() bool {
		reconfigure(t, l)
		said, err = accordion("--remove")
		return strings.Contains(said, "another sidecar serves this cluster")
	})
	sidecar.kill()
	if said, err = accordion("--remove"); err != nil {
		t.Errorf("with the rest of a dead sidecar's lease it is refused: %s", said)
	}
	if diff := cmp.Diff(before, filesIn(t, folder)); diff != "" {
		t.Errorf("after undoing it (%s) the folder of slurm.conf differs:\n%s", said, diff)
	}
	if left, err := os.ReadDir(filepath.Dir(config)); err != nil || len(left) > 0 {
		t.Errorf("besides the configuration %v is left, error %v", left, err)
	}
}

// set replaces the line of slurm.conf that has the same key. In a partition's line it replaces the settings before
// "…" by the settings after it.
func set(t *testing.T, path, line string) {
	t.Helper()
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(old)
	if partition, setting, is := strings.Cut(line, " … "); is {
		key, _, _ := strings.Cut(setting, "=")
		text = regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(partition)+` .*$`).ReplaceAllStringFunc(text, func(row string) string {
			return regexp.MustCompile(` `+key+`=\S+`).ReplaceAllString(row, "") + " " + setting
		})
	} else {
		key, _, _ := strings.Cut(line, "=")
		text = regexp.MustCompile(`(?m)^`+key+`=.*\n`).ReplaceAllString(text, "") + line + "\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func reconfigure(t *testing.T, l *lab.SlurmLab) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "scontrol", "reconfigure")
	c.Env = l.Env()
	if out, err := c.CombinedOutput(); err != nil {
		t.Logf("scontrol reconfigure: %v: %s", err, out) // the loop tries again
	}
}

func filesIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, e := range entries {
		all[e.Name()] = true
	}
	return all
}
