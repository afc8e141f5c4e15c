package oar_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"accordion/scripts/lab"
)

// sweepTasks are enough for a few on the first host, for several on each of four, and for a tail.
const sweepTasks = 40

var done = regexp.MustCompile(`(?m)^task (\d+) \(\S+\): done on (\S+)$`)

// examples/parallel, as its page says: each task is done once, and each host that came later has done some.
func TestASweepUsesHostsThatCameLaterOnARealOAR(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("parallel"); err != nil {
		t.Skip("no GNU parallel (scripts/test installs it)")
	}
	lab := lab.OAR(t, 5, lab.Users("alice"))
	lab.Do(t, "serve")
	t.Cleanup(func() { sidecarsWords(t, lab) })
	home := filepath.Join(lab.Dir, "home", "alice")
	for name, text := range map[string]string{"task": "", "tasks": strings.Repeat("1\n", sweepTasks)} {
		if text == "" {
			read, err := os.ReadFile("../examples/parallel/" + name)
			if err != nil {
				t.Fatal(err)
			}
			text = string(read)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script, err := os.ReadFile("../examples/parallel/sweep.sh")
	if err != nil {
		t.Fatal(err)
	}
	short := strings.NewReplacer("#OAR -t ep=1x10m,4x1h,1x10m", "#OAR -t ep=1x40s,4x90s,1x90s", "${TRIAL:-4}", "${TRIAL:-2}", "${REST:-8}", "${REST:-6}").Replace(string(script))
	job := submitScript(t, lab, "alice", short)
	ends(t, lab, job)
	out := lab.Run(t, "alice", "cat", "OAR.sweep."+job+".stdout")
	tasks, hosts := map[string]int{}, map[string]int{}
	for _, m := range done.FindAllStringSubmatch(out, -1) {
		tasks[m[1]]++
		hosts[m[2]]++
	}
	for n := 1; n <= sweepTasks; n++ {
		if tasks[fmt.Sprint(n)] != 1 {
			t.Errorf("task %d was done %d times", n, tasks[fmt.Sprint(n)])
		}
	}
	if len(hosts) != 4 {
		t.Errorf("tasks were done on %v, want four hosts", hosts)
	}
	if t.Failed() {
		t.Logf("%s\n%s", out, lab.Run(t, "alice", "cat", "OAR.sweep."+job+".stderr"))
	}
}
