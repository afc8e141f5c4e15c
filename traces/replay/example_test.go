package replay_test

import (
	"fmt"
	"os"
	"strings"

	"accordion/core/sched"
	"accordion/traces/replay"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// A log of three jobs on four processors under EASY. The third job overtakes the second one, which waits for the first one.
func Example() {
	const text = `; MaxProcs: 4
1  0 -1 100 3 -1 -1 3 100 -1 1 1 1 1 1 1 -1 -1
2 30 -1  40 4 -1 -1 4  50 -1 1 1 1 1 1 1 -1 -1
3 50 -1  40 1 -1 -1 1  40 -1 1 1 1 1 1 1 -1 -1
`
	log, err := swf.Read(strings.NewReader(text), "three.swf", swf.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	selected, err := workload.Selection{}.Select(log)
	if err != nil {
		fmt.Println(err)
		return
	}
	result := replay.Run(selected.Workload, sched.EASY{})
	placed, err := replay.Place(selected.Workload, result)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("mean wait %.1f s\n", replay.Measure(selected.Workload, result).Waiting.Mean)
	if err := replay.WriteJobs(os.Stdout, selected, result, placed); err != nil {
		fmt.Println(err)
	}
	// Output:
	// mean wait 23.3 s
	// job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,consumed_energy,allocated_resources
	// 1,three,0,3,100,1,0,100,100,0,100,1.000000,-1,0-2
	// 2,three,30,4,50,1,100,40,140,70,110,2.750000,-1,0-3
	// 3,three,50,1,40,1,50,40,90,0,40,1.000000,-1,3
}
