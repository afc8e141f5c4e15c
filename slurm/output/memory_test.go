package output

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/slurm/output/outputtest"
)

// The sidecar keeps a managed job's record for the job's whole life. The record must not keep the text of the list
// from which it was parsed in memory.
func TestAJobThatIsKeptDoesNotKeepTheListInWhichItWasSeen(t *testing.T) {
	const lists, each = 20, 2000
	job := strings.SplitAfter(outputtest.Recorded(t, "squeue.txt"), "\n")[0]
	nodes := outputtest.Recorded(t, "scontrol.txt")
	held := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := held()
	var kept []adapter.Job
	var nodesKept []adapter.Node
	var reservations []adapter.Reservation
	read := 0
	for range lists {
		list := strings.Repeat(job, each)
		all, err := ParseSqueue(list, "WORD")
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, all[each/2].Job)
		shown := strings.Repeat(nodes, each*len(job)/len(nodes)+1)
		in, err := ParseInventory(shown)
		if err != nil {
			t.Fatal(err)
		}
		nodesKept = append(nodesKept, in.Nodes[0].Node)
		reservations = append(reservations, in.Reservations...)[:min(len(reservations)+1, lists)]
		read += len(list) + len(shown)
	}
	if grown := held() - before; grown > read/4 {
		t.Errorf("%d jobs, %d nodes and %d reservations out of %d kB of lists keep %d kB", len(kept), len(nodesKept), len(reservations), read>>10, grown>>10)
	}
	runtime.KeepAlive(fmt.Sprint(len(kept), len(nodesKept), len(reservations)))
	runtime.KeepAlive(kept)
	runtime.KeepAlive(nodesKept)
	runtime.KeepAlive(reservations)
}
