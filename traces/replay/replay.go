// Package replay runs a recorded workload through the planner in virtual time: which job would have begun when, on which
// sizes, had core/sched decided.
//
// It decides nothing itself: every start, growth and shrink is a policy's (package sched), the same that the sidecar asks
// for a real cluster. It does not read logs (package swf) and draws nothing (package report).
//
//	selected, err := workload.Selection{}.Select(log)        // of a swf.Log: what is of use
//	result := replay.Run(selected.Workload, sched.EASY{})    // who began when
//	metrics := replay.Measure(selected.Workload, result)     // how long jobs waited
//	placed, err := replay.Place(selected.Workload, result)   // on which nodes
//	err = replay.WriteJobs(os.Stdout, selected, result, placed)
package replay
