// Package replay runs a recorded workload through the planner in virtual time: when each job would have begun, and on which sizes, if
// core/sched had decided.
//
// It decides nothing itself: every start, growth and shrink is the policy's decision (package sched), as on a real cluster. It does not read
// logs (package swf) and draws nothing (package report).
//
//	selected, err := workload.Selection{}.Select(log)        // of a swf.Log: the usable jobs
//	result := replay.Run(selected.Workload, sched.EASY{})    // when each job began
//	metrics := replay.Measure(selected.Workload, result)     // how long jobs waited
//	placed, err := replay.Place(selected.Workload, result)   // on which nodes
//	err = replay.WriteJobs(os.Stdout, selected, result, placed)
package replay
