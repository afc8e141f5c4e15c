package slurm_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Only the newest Debian release for which there is a lab has an MPICH that can spawn processes. scripts/test --long
// runs this test in that lab. By hand:
//
//	scripts/slurm-lab world 26.05 -- env ACCORDION_TEST_SLURM=required go test ./slurm -run GrowsAndShrinksInPlace -v
func TestAnMPIProgramGrowsAndShrinksInPlace(t *testing.T) {
	t.Parallel()
	compile(t, "mpicc.mpich", "-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", "-o", filepath.Join(t.TempDir(), "grow"), "../examples/spawn/grow.c", "../examples/hosts/hosts.c")
	if release, _, _ := strings.Cut(ownRelease(t), "."); release < "26" {
		t.Skip("MPICH spawns nothing here, as Debian has it up to 13: it is run beside Slurm 26.05 (scripts/test --long); the program compiles")
	}
	lab := quickLab(t)
	p := serving(t, lab, "[overrun]\nleast = \"2m\"\n[silent]\nnotice = \"15s\"\n") // on two busy cores a task may take longer than its second
	const tasks = 80                                                                // so many that some are left when the job shrinks
	e := example{folder: "spawn", script: "mpich.sh", ep: "1x10s,3x30s,1x20s", exports: []string{fmt.Sprintf("TASKS=%d", tasks), "SECONDS_EACH=1"}}
	e.prepare = func(t *testing.T, dir string) {
		files := filepath.Join(lab.Dir, "home", "alice", "hosts") // the program looks for hosts files there
		lab.Run(t, "alice", "mkdir", "-p", files)
		for _, name := range []string{"hosts.c", "hosts.h"} {
			install(t, filepath.Join("..", "examples", "hosts", name), filepath.Join(files, name))
		}
		compile(t, "mpicc.mpich", "-std=gnu99", "-O2", "-o", filepath.Join(dir, "grow"), filepath.Join(dir, "grow.c"), filepath.Join(files, "hosts.c"))
	}
	job := e.submit(t, lab, "spawn")
	lab.Await(t, 4*time.Minute, "the program has ended", func() bool { return len(p.events(job, "ended")) > 0 })
	r := exampleRun{dir: filepath.Join(lab.Dir, "home", "alice", "spawn"), output: lab.File("alice", "spawn/out")}
	if r.readSteps(t, p, job) {
		judgeSpawn(t, r, tasks)
	}
	if t.Failed() {
		t.Logf("it said\n%s", r.output)
	}
	assertClean(t, p)
}

func judgeSpawn(t *testing.T, r exampleRun, tasks int) {
	t.Helper()
	r.assertEachTaskOnce(t, `^task (\d+): done on (\S+)$`, 0, tasks)
	if !strings.Contains(r.output, fmt.Sprintf("all %d tasks are done\n", tasks)) {
		t.Error("the program did not end")
	}
	last := strings.Index(r.output, "step 3 of 3") // the sidecar prints this line after the nodes were removed from the job
	for _, node := range r.left {
		left := regexp.MustCompile(`(?m)^` + node + `: its worker has left$`).FindStringIndex(r.output)
		if left == nil || last < 0 || left[0] > last {
			t.Errorf("the worker of %s still ran when its node left", node)
		}
	}
}
