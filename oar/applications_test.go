package oar_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"accordion/internal/lab"
	"accordion/internal/testenv"
)

// applications lists the applications of examples/ that run under OAR. The test starts each as its page describes.
var applications = map[string]struct {
	program string            // it must be installed
	name    string            // name of the job
	files   []string          // files in the folder of the script
	more    map[string]string // files in the user's home
	short   *strings.Replacer // turns the script's hours into seconds
	did     *regexp.Regexp    // matches a line of the job's output that says which task was done, and on which host
	tasks   []string          // tasks that must each be done once
	hosts   int               // number of hosts on which at least one task must be done
	says    string            // must occur in the job's output
}{
	"parallel/sweep.sh": {
		program: "parallel", name: "sweep", files: []string{"task"}, more: map[string]string{"tasks": strings.Repeat("1\n", 40)},
		short: strings.NewReplacer("#OAR -t ep=1x10m,4x1h,1x10m", "#OAR -t ep=1x40s,4x90s,1x90s", "${TRIAL:-4}", "${TRIAL:-2}", "${REST:-8}", "${REST:-6}"),
		did:   regexp.MustCompile(`(?m)^task (\d+) \(\S+\): done on (\S+)$`), tasks: upTo(1, 40), hosts: 4,
	},
	"dask/job.sh": {
		program: "dask-scheduler", name: "dask", files: []string{"accordion_dask.py", "blocks.py"},
		short: strings.NewReplacer("#OAR -t ep=1x10m,3x1h,1x10m", "#OAR -t ep=1x60s,3x2m,1x2m"),
		did:   regexp.MustCompile(`(?m)^block (\d+): squared on (\S+)$`), tasks: upTo(0, 11), hosts: 3, says: "the sum is 575928002000\n",
	},
	"snakemake/job.sh": {
		program: "snakemake", name: "pipeline", files: []string{"node", "Snakefile"},
		short: strings.NewReplacer("#OAR -t ep=1x10m,3x1h,1x10m", "#OAR -t ep=1x60s,3x3m,1x2m\nexport CI=true", "${PARTS:-20}", "6", "${SECONDS_EACH:-300}", "1"),
		did:   regexp.MustCompile(`(?m)^part (\d+): summed up on (\S+)$`), tasks: upTo(0, 5), hosts: 3, says: "the sum is 3003000\n",
	},
}

func upTo(first, last int) (all []string) {
	for n := first; n <= last; n++ {
		all = append(all, fmt.Sprint(n))
	}
	return all
}

// Each task is done once, and each host that joined the job later has done some of the tasks.
func TestApplicationsUseHostsThatCameLaterOnARealOAR(t *testing.T) {
	t.Parallel()
	lab := lab.OAR(t, 8, lab.Users("alice"))
	lab.Do(t, "serve")
	t.Cleanup(func() { checkAudit(t, lab) })
	t.Cleanup(func() { showSidecarLog(t, lab) })
	jobs := map[string]string{}
	for example, a := range applications {
		if _, err := exec.LookPath(a.program); err != nil {
			if testenv.Required("oar") {
				t.Fatalf("examples/%s is not run: no %s (scripts/test --real installs it)", example, a.program)
			}
			t.Logf("examples/%s is LEFT OUT: no %s (scripts/test --real installs it)", example, a.program)
			continue
		}
		put := func(name, text string) {
			if err := os.WriteFile(filepath.Join(lab.Dir, "home", "alice", name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		read := func(name string) string {
			text, err := os.ReadFile(filepath.Join("../examples", name))
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		for _, name := range a.files {
			put(name, read(filepath.Join(filepath.Dir(example), name)))
		}
		for name, text := range a.more {
			put(name, text)
		}
		jobs[example] = submitScript(t, lab, "alice", a.short.Replace(read(example)))
	}
	for example, job := range jobs {
		ends(t, lab, job)
		a, tasks, hosts := applications[example], map[string]int{}, map[string]int{}
		out := lab.Run(t, "alice", "cat", "OAR."+a.name+"."+job+".stdout")
		for _, m := range a.did.FindAllStringSubmatch(out, -1) {
			tasks[m[1]]++
			hosts[m[2]]++
		}
		for _, task := range a.tasks {
			if tasks[task] != 1 {
				t.Errorf("examples/%s: task %s was done %d times", example, task, tasks[task])
			}
		}
		if len(hosts) != a.hosts || !strings.Contains(out+"\n", a.says) {
			t.Errorf("examples/%s: tasks were done on %v, want %d hosts, and %q", example, hosts, a.hosts, a.says)
		}
		if t.Failed() {
			t.Logf("%s\n%s", out, lab.Run(t, "alice", "cat", "OAR."+a.name+"."+job+".stderr"))
		}
	}
}
