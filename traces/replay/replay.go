// Package replay runs a recorded workload through the planner in virtual time. It shows when each job would
// have begun, and on which sizes, if core/sched had decided.
//
// The package makes no scheduling decisions: every start, growth and shrink is the policy's decision (package sched), as on a real cluster. It
// does not read logs (package swf) and does not draw charts (package report).
//
//	selected, err := workload.Selection{}.Select(log)        // the usable jobs of a swf.Log
//	result := replay.Run(selected.Workload, sched.EASY{})    // when each job began
//	metrics := replay.Measure(selected.Workload, result)     // how long jobs waited
//	placed, err := replay.Place(selected.Workload, result)   // on which nodes
//	err = replay.WriteJobs(os.Stdout, selected, result, placed)
package replay
