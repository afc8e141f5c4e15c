package lab

import (
	"strings"
	"testing"
)

func TestOnlyALookWhoseConnectionBrokeIsMadeAgain(t *testing.T) {
	const lost = "squeue: error: slurm_msg_sendto: address:port=127.0.0.1:26400 msg_type=2003: Unexpected missing socket error"
	for _, c := range []struct {
		command, says string
		want          bool
	}{
		{"squeue --noheader --all", lost, true},
		{"scontrol --oneliner show node", "slurm_load_node error: Zero Bytes were transmitted or received", true},
		{"sacctmgr -n show user", lost, true},
		{"scontrol update JobId=7 NumNodes=2", lost, false},
		{"scancel 7", lost, false},
		{"sbatch job.sh", lost, false},
		{"squeue -j 7", "slurm_load_jobs error: Invalid job id specified", false},
	} {
		if got := looks(strings.Fields(c.command)) && broke(c.says); got != c.want {
			t.Errorf("%s, which says %q: made again %t, want %t", c.command, c.says, got, c.want)
		}
	}
}
