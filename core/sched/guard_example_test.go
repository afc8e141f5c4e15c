package sched

import (
	"fmt"

	"accordion/core"
	"accordion/core/profile"
)

// Job 9 has all four nodes until 100, or until 130 if it uses its guard. Job 1 waits for them and has a guard of its
// own.
func Example_outlook() {
	running := []core.Allocation{{Job: 9, EP: core.EP{{Duration: 130, Nodes: 4}}, Guard: 30}}
	view := profile.New(4)
	view.Add(0, running[0].EP)
	var o guardView
	o.Renew(0, view, running)
	waits := core.Planned{Allocation: core.Allocation{Job: 1, Start: 130, EP: core.EP{{Duration: 60, Nodes: 4}}, Guard: 20}}
	o.Occupy(view, &waits, 0)
	fmt.Println("job 1 begins from", waits.Early, "to", waits.Start)

	behind := core.Planned{Allocation: core.Allocation{Job: 2, Start: 0, EP: core.EP{{Duration: 10, Nodes: 2}}}}
	start, ok := o.Clear(behind, 5)
	fmt.Println("job 2 is in nobody's way from", start, ok)
	// Output:
	// job 1 begins from 100 to 130
	// job 2 is in nobody's way from 190 true
}
