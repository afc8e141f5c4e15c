// Package swf reads and writes workload logs in the Standard Workload Format, version 2.2, of the Parallel Workloads Archive (Chapin et al.,
// "Benchmarks and Standards for the Evaluation of Parallel Job Schedulers", JSSPP 1999). Header lines begin with a semicolon. Each job is a
// line of 18 numbers, where −1 means unknown.
//
//	log, err := swf.ReadFile("KTH-SP2-1996-2.1-cln.swf.gz", swf.Options{})
//	nodes, known := log.Header.Machine() // 100, true
//	wait := log.Records[0].Wait          // seconds
//
// A Reader returns the jobs one by one, so that a log need not fit into memory:
//
//	in := swf.NewReader(file, "KTH", swf.Options{Strict: true})
//	for in.Next(&record) == nil { … }
//
// Real logs have lines that end early, fractions in fields for whole numbers, and other errors. A strict Reader returns the first error with
// file, line and field. A Reader that is not strict reads as much as possible, and counts the errors (Warnings).
//
// Select, Rezero, Renumber and Sort change a log in memory: they remove jobs, move second 0, and change the numbers. SurveyOf describes a log
// and its errors. None of these functions corrects errors. traces/workload decides which jobs are replayed.
package swf
