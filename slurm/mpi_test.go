package slurm_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/testenv"
)

// rankLine matches what each rank of examples/mpi prints at its start.
var rankLine = regexp.MustCompile(`(?m)^iteration (\d+): rank \d+ of (\d+) on (\S+)$`)

// launches returns the nodes of each start of the MPI program, in order, from the output of its ranks. It fails the
// test if the output of a rank is missing.
func launches(t *testing.T, output string) []string {
	t.Helper()
	var order []string
	nodes := map[string][]string{}
	for _, m := range rankLine.FindAllStringSubmatch(output, -1) {
		key := m[2] + " ranks from iteration " + m[1]
		if nodes[key] == nil {
			order = append(order, key)
		}
		nodes[key] = append(nodes[key], m[3])
	}
	var all []string
	for _, key := range order {
		if want, _, _ := strings.Cut(key, " "); want != fmt.Sprint(len(nodes[key])) {
			t.Errorf("%s: %v\n%s", key, nodes[key], output)
		}
		all = append(all, sorted(t, strings.Join(nodes[key], ",")))
	}
	return all
}

func TestAnMPIProgramRunsOnItsGrownNodes(t *testing.T) {
	t.Parallel()
	lab := quickLab(t)
	if lab.Slurm < "21" {
		t.Skip("MPICH of Debian 11 looks up the names of nodes, which the lab's have not")
	}
	home := filepath.Join(lab.Dir, "home", "alice")
	heat := filepath.Join(t.TempDir(), "heat")
	compile(t, "mpicc.mpich", "-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", "-o", heat, "../examples/mpi/heat.c", "../examples/hosts/hosts.c")
	p := serving(t, lab, "[overrun]\nleast = \"2m\"\n[silent]\nnotice = \"20s\"\n") // many ranks on two cores are slow
	// These are numbers of iterations. A job may start up to 4 s before its planned second, which makes its first
	// step longer. The silent job needs so many iterations that it still runs when it must shrink.
	const steps, silent = 20, 32000

	jobs, lengths := map[string]string{}, map[string]int{"steps": 3 * steps, "silent": silent}
	for name, ep := range map[string]string{"steps": "2x15s,3x15s,1x15s", "silent": "2x20s,3x30s,1x30s"} {
		dir := filepath.Join(home, name)
		lab.Run(t, "alice", "rm", "-rf", dir) // otherwise the checkpoint of an earlier run would leave nothing to compute
		lab.Run(t, "alice", "mkdir", dir)
		install(t, heat, filepath.Join(dir, "heat"))
		script, err := os.ReadFile("../examples/mpi/" + name + ".sh")
		if err != nil {
			t.Fatal(err)
		}
		iterations := steps
		if name == "silent" {
			iterations = silent
		}
		jobs[name] = lab.Submit(t, "alice", string(script), "-H", "-N2", "-t5", "--comment=ep="+ep, "--chdir="+dir, "-o", filepath.Join(dir, "out"),
			fmt.Sprintf("--export=ALL,CELLS=300,ITERATIONS=%d", iterations))
	}
	for name, job := range jobs {
		lab.Await(t, 5*time.Minute, name+".sh has ended", func() bool { return len(p.events(job, "ended")) > 0 })
		out := lab.File("alice", name+"/out")
		var held []string
		for _, e := range p.events(job, "started", "grew", "shrank") {
			held = append(held, sorted(t, fmt.Sprint(e.Args["nodes"])))
		}
		if ran := launches(t, out); len(held) != 3 || !slices.Equal(ran, held) {
			t.Errorf("%s.sh: its ranks ran on %v, and the job held %v\n%s", name, ran, held, out)
		}
		checkRod(t, heat, filepath.Join(home, name, "rod"), lengths[name])
	}
	assertClean(t, p)
}

// The nodes of an MPI program may change between the script's reading of the hosts file and the program's start.
func TestAnMPIProgramSeesThatItsNodesChangedBeforeItsStart(t *testing.T) {
	dir := t.TempDir()
	heat, hosts := filepath.Join(dir, "heat"), filepath.Join(dir, "hosts")
	compile(t, "mpicc.mpich", "-std=gnu99", "-O2", "-o", heat, "../examples/mpi/heat.c", "../examples/hosts/hosts.c")
	const file = "# accordion hosts generation=2 step=3 steps=3 nodes=1 from=1 until=2\nn3\n"
	if err := os.WriteFile(hosts, []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	for generation, status := range map[string]int{"1": 75, "2": 0} {
		c := exec.CommandContext(t.Context(), heat, "300", "100", filepath.Join(dir, "rod"+generation), hosts, generation)
		if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != status {
			t.Errorf("started on the nodes of generation %s, with generation 2 in the file: status %d, want %d\n%s", generation, c.ProcessState.ExitCode(), status, out)
		}
	}
}

// compile runs a compiler; the test is skipped if there is none.
func compile(t *testing.T, compiler string, arguments ...string) {
	t.Helper()
	testenv.Program(t, compiler)
	if out, err := exec.CommandContext(t.Context(), compiler, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
}

// install copies a program to a place where any user may run it.
func install(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// checkRod checks the state of the MPI program after all its starts on different nodes. The state must equal that
// of a single rank that ran without a pause.
func checkRod(t *testing.T, heat, rod string, iterations int) {
	t.Helper()
	whole := filepath.Join(t.TempDir(), "rod")
	if out, err := exec.CommandContext(t.Context(), heat, "300", fmt.Sprint(iterations), whole).CombinedOutput(); err != nil {
		t.Fatalf("heat: %v\n%s", err, out)
	}
	want, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(rod); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s (%d bytes, %v) is not the state after %d iterations", rod, len(got), err, iterations)
	}
}
