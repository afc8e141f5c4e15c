package slurm_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"accordion/internal/lab"
	"accordion/slurm/growth"
)

// unsoundGrowth is a script that grows a job by hand, as root, in a way that Accordion does not use. The job grows
// from n1 to n1 and n2, starts a task on each CPU of both nodes, and shrinks. The last line of output is the
// result. Slurm's messages go to standard error.
const unsoundGrowth = `
way=$1 cpus=$2 job= e=
trap 'scancel $job $e 2>/dev/null; cd /; rm -rf "$folder"' EXIT
die() { echo "$1"; exit; }
runs() { [ "$(squeue -h -j "$job" -t R -o %T)" ]; }
job=$(sbatch --parsable -p main -N1 -w n1 --mincpus="$cpus" $share --mem="$memory" -t3 -o /dev/null --chdir=/ --wrap 'sleep 150') || die sbatch
for i in $(seq 300); do runs && break; sleep 0.1; done
nodes=n2
[ "$way" = merge ] || nodes=n1,n2
immediate=--immediate
! scontrol show config | grep -q '^SchedulerParameters .*defer' || immediate=
for i in 1 2 3; do
	e=$(salloc -Q $immediate --no-shell -p main -N"$n" -w "$nodes" --mincpus="$cpus" $share --mem="$more" --dependency=expand:"$job" -J by-hand && squeue -h -n by-hand -t R -o %A)
	[ "$e" ] && break
done
[ "$e" ] || die salloc
for i in $(seq 100); do
	says=$(scontrol update JobId="$e" NumNodes=0 2>&1) && break
	case $says in
	*"step already exists"*) scancel "$e.4294967292" 2>/dev/null; sleep 0.1 ;;
	*) echo "$says" >&2; die merge ;;
	esac
done
folder=$(mktemp -d) && cd "$folder"
ran=$(timeout 40 srun -Q --jobid="$job" --overlap -N2 -n$((2 * cpus)) --mpi=none --chdir=/ echo ran | wc -l) # its status is 0 though some fail
[ "$ran" = $((2 * cpus)) ] || die srun
scontrol update JobId="$job" NodeList=n1 || die shrink
says=$(scontrol update JobId="$job" Comment=again 2>&1) || { echo "$says" >&2; die again; }
echo works`

// byHand grows a job in a way that Accordion does not use. It returns Slurm's message, or "" if the growth seems to
// work.
func byHand(t *testing.T, lab *lab.SlurmLab, way growth.Kind) string {
	t.Helper()
	resetNodes(lab)
	cover := map[growth.Kind]string{
		growth.Merge:   "n=1 share= memory=500 more=500\n",
		growth.Overlap: "n=2 share=--oversubscribe memory=500 more=1\n",
	}[way]
	out, errs, err := lab.Exec("root", "", "bash", "-c", cover+unsoundGrowth, "by-hand", string(way), fmt.Sprint(lab.CPUs))
	if err != nil {
		t.Fatalf("growth by %s, by hand: %v\n%s\n%s", way, err, out, errs)
	}
	if out == "works" {
		return ""
	}
	return out + ": " + firstError(errs)
}

var numbers = regexp.MustCompile(` for job \d+$`)

// firstError returns Slurm's first error line without prefixes and numbers.
func firstError(errs string) string {
	line, _, _ := strings.Cut(errs, "\n")
	parts := strings.Split(numbers.ReplaceAllString(line, ""), ": ")
	return parts[len(parts)-1]
}
