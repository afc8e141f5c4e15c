package launch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"accordion/internal/lab"
	"accordion/internal/testenv"
)

// ranks is an MPI program. Its ranks add up their numbers with MPI, and then print the cores and devices that they have.
const ranks = `
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	int rank, size, sum, i;
	char line[256], cpus[64] = "", gpus[16] = "", path[4096];
	const char *node = getenv("SLURMD_NODENAME"), *job = getenv("SLURM_JOB_ID"), *visible = getenv("CUDA_VISIBLE_DEVICES"), *mine = getenv("MY_OWN");
	FILE *f = fopen("/proc/self/status", "r");

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	while (f && fgets(line, sizeof line, f))
		sscanf(line, "Cpus_allowed_list: %63s", cpus);
	for (i = 0; i < 4; i++) { /* nobody drives the device: ENXIO where it may be opened */
		snprintf(path, sizeof path, "%s/dev/gpu%d", getenv("ACCORDION_LAB"), i);
		if (open(path, O_RDWR) < 0 && errno == ENXIO)
			sprintf(gpus + strlen(gpus), "%d", i);
	}
	printf("%d of %d sum %d on %s job %s cpus %s gpus %s visible %s mine %s\n", rank, size, sum, node ? node : "-", job ? job : "-", cpus,
		*gpus ? gpus : "-", visible && *visible ? visible : "-", mine ? mine : "-");
	MPI_Finalize();
	return 0;
}
`

// needs skips the test if a program is not installed. If tests with a real Slurm are required it fails the test instead, because
// scripts/test --real installs the program.
func (w *world) needs(program string) {
	w.Helper()
	_, _, err := w.lab.Exec("root", "", "sh", "-c", "command -v "+program)
	if err != nil && testenv.Required("slurm") {
		w.Fatalf("no %s for Slurm %s: scripts/test --real installs it", program, w.lab.Slurm)
	} else if err != nil {
		w.Skipf("no %s for Slurm %s", program, w.lab.Slurm)
	}
}

// compile builds a program in the script's folder.
func (s *script) compile(compiler, source, program string) {
	s.Helper()
	c := filepath.Join(s.home, program+".c")
	if err := os.WriteFile(c, []byte(source), 0o644); err != nil {
		s.Fatal(err)
	}
	s.lab.Run(s.T, "root", compiler, "-O1", "-Wall", "-Werror", "-o", filepath.Join(s.home, program), c)
}

func TestMPICHProgramsRunOnTheJobAndItsCompanions(t *testing.T) {
	s := mpiOnCompanions(newWorld(t), "mpicc.mpich", "mpiexec.hydra -bind-to core ./ranks", "")
	s.same("one a node", s.succeeds("mpiexec.hydra -n $ACCORDION_NNODES -ppn 1 sh -c 'echo $SLURMD_NODENAME'"), "n5", "n6", "n7", "n8")
	s.same("its own status", s.succeeds("mpiexec.hydra -n 4 -ppn 1 sh -c 'exit 75' >/dev/null 2>&1; echo $?"), "75")
}

// MPICH of Debian 11, which has Slurm 20.11, binds no ranks, and looks up the nodes' names, which do not exist in the lab.
func TestMPICHProgramsSpanOnOtherReleasesOfSlurm(t *testing.T) {
	for _, release := range []string{"24.11", "26.05"} {
		t.Run(release, func(t *testing.T) {
			mpiOnCompanions(newWorld(t, lab.Release(release)), "mpicc.mpich", "mpiexec.hydra -bind-to core ./ranks", "")
		})
	}
}

// The nodes of a lab are one machine with one name, and Open MPI treats hosts with the same name as one host. So Open MPI must not use
// shared memory between two nodes. Its daemons must not share memory either, because they expect it at fixed addresses, which are not
// always free. And each daemon creates a folder for temporary files that is named after the machine, so two daemons that start at the same
// time would use the same folder.
func TestOpenMPIProgramsRunOnTheJobAndItsCompanions(t *testing.T) {
	w := newWorld(t)
	daemon := filepath.Join(w.home, "orted")
	if err := os.WriteFile(daemon, []byte(ownFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	mpiOnCompanions(w, "mpicc.openmpi", "mpirun.openmpi --bind-to core ./ranks",
		"export OMPI_MCA_btl=self,tcp PMIX_MCA_gds=hash OMPI_MCA_rtc_hwloc_vmhole=none OMPI_MCA_orte_launch_agent="+daemon+"\n")
}

// ownFolder starts Open MPI's daemon of a node with a folder of its own for temporary files.
const ownFolder = `#!/bin/sh
TMPDIR=$(mktemp -d "${0%/*}/$SLURMD_NODENAME.XXXX") || exit
export TMPDIR
exec orted "$@"
`

// Open MPI 5 and later starts nothing on several nodes with the same name. In Open MPI 6 and later, ranks do not connect to an address of
// their own host. So each node of the lab gets its own name and network interface for Open MPI. The interfaces are all on the same machine;
// the settings prevent Open MPI from finding that out from the kernel.
func TestOpenMPIProgramsSpanOnOtherReleasesOfSlurm(t *testing.T) {
	for _, release := range []string{"24.11", "26.05"} {
		t.Run(release, func(t *testing.T) {
			w := newWorld(t, lab.Release(release))
			w.needs("mpicc.openmpi")
			for node := 5; node <= 8; node++ {
				w.lab.Run(t, "root", "sh", "-c", fmt.Sprintf(`[ -e /sys/class/net/own%[1]d ] || {
					ip link add own%[1]d type veth peer name peer%[1]d && ip address add 10.98.%[1]d.1/24 dev own%[1]d &&
					ip link set own%[1]d up && ip link set peer%[1]d up
				}`, node))
			}
			source := filepath.Join(w.home, "names.c")
			if err := os.WriteFile(source, []byte(names), 0o644); err != nil {
				t.Fatal(err)
			}
			library := filepath.Join(w.home, "names.so")
			w.lab.Run(t, "root", "gcc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source, "-ldl")
			mpiOnCompanions(w, "mpicc.openmpi", "mpirun.openmpi --bind-to core ./ranks", "export OMPI_MCA_reachable=weighted LD_PRELOAD="+library+"\n")
		})
	}
}

// names is a library that gives each node of the lab a name and an interface for Open MPI. Slurm's own programs, which also look up the
// host's name, still get the machine's name.
const names = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

__attribute__((constructor)) static void interface(void)
{
	char own[64];
	const char *node = getenv("SLURMD_NODENAME");

	if (node) {
		snprintf(own, sizeof own, "own%s", node + 1);
		setenv("OMPI_MCA_btl_tcp_if_include", own, 1);
	}
}

int gethostname(char *name, size_t size)
{
	int (*real)(char *, size_t) = (int (*)(char *, size_t))dlsym(RTLD_NEXT, "gethostname");
	const char *node = getenv("SLURMD_NODENAME");

	if (!node || !strcmp(program_invocation_short_name, "srun"))
		return real(name, size);
	snprintf(name, size, "%s", node);
	return 0;
}

int uname(struct utsname *u)
{
	int (*real)(struct utsname *) = (int (*)(struct utsname *))dlsym(RTLD_NEXT, "uname");
	int status = real(u);

	gethostname(u->nodename, sizeof u->nodename);
	return status;
}
`

// mpiOnCompanions starts an MPI program with no option except the one that binds ranks to cores. The job on n5 and n6 requests one GPU per
// task. Its companion on n7 has as many GPUs per node, and its companion on n8 twice as many.
func mpiOnCompanions(w *world, compiler, start, settings string) *script {
	w.Helper()
	program, _, _ := strings.Cut(start, " ")
	w.needs(program)
	w.needs(compiler)
	s := w.batch("n[5-6]", "--ntasks-per-node=2", "--gpus-per-task=1")
	s.compile(compiler, ranks, "ranks")
	one, two := w.companion("n7", "--ntasks-per-node=2", "--gpus-per-task=1"), w.companion("n8", "--ntasks-per-node=2", "--gpus-per-task=2")
	s.steps(2, one, two)
	settings += "export MY_OWN=x\n"
	s.running(settings+start, one.Job, two.Job)
	// The program also runs while another step has all cores, memory and GPUs of the allocations.
	s.running(settings+"accordion run sh -c 'touch began.$ACCORDION_PROCID; exec sleep 300' &\nuntil [ -e began.7 ] && [ $(ls began.* | wc -l) = 8 ]; do sleep 0.1; done\n"+
		start+"; status=$?; kill $!; wait; (exit $status)", one.Job, two.Job)
	return s
}

// running starts an MPI program, and checks the cores and devices of its ranks.
func (s *script) running(commands string, one, two int64) {
	s.Helper()
	held := map[string][]string{} // cores, by node and rank
	seen := 0
	for _, line := range s.succeeds(commands) {
		var rank, size, sum int
		var node, cpus, gpus, visible, mine string
		var job int64
		if n, _ := fmt.Sscanf(line, "%d of %d sum %d on %s job %d cpus %s gpus %s visible %s mine %s", &rank, &size, &sum, &node, &job, &cpus, &gpus, &visible, &mine); n != 9 {
			continue // output of the launcher itself
		}
		seen++
		want := []string{"n5", "n6", "n7", "n8"}[rank/2]
		wantJob := []int64{s.id, s.id, one, two}[rank/2]
		if size != 8 || sum != 28 || node != want || job != wantJob || mine != "x" {
			s.Errorf("rank %d should be on %s, of job %d: %s", rank, want, wantJob, line)
		}
		wantGPUs := 2
		if node == "n8" {
			wantGPUs = 4
		}
		if s.lab.Binds && (strings.ContainsAny(cpus, ",-") || slices.Contains(held[node], cpus) || len(gpus) != wantGPUs || strings.Count(visible, ",") != wantGPUs-1) {
			s.Errorf("a core of its own and %d GPUs for rank %d: %s", wantGPUs, rank, line)
		}
		held[node] = append(held[node], cpus)
	}
	if seen != 8 {
		s.Errorf("%d ranks tell what they have, not 8", seen)
	}
}
