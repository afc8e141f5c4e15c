// Package swf reads and writes workload logs in the Standard Workload Format, version 2.2, of the Parallel Workloads Archive
// (Chapin et al., "Benchmarks and Standards for the Evaluation of Parallel Job Schedulers", JSSPP 1999): header lines that
// begin with a semicolon, then a line of 18 numbers a job, where −1 stands for what nobody knows.
//
//	log, err := swf.ReadFile("KTH-SP2-1996-2.1-cln.swf.gz", swf.Options{})
//	nodes, known := log.Header.Machine() // 100, true
//	wait := log.Records[0].Wait          // seconds
//
// A Reader gives the jobs one by one, so that a log need not fit into memory:
//
//	in := swf.NewReader(file, "KTH", swf.Options{Strict: true})
//	for in.Next(&record) == nil { … }
//
// Logs as they are found have lines that end early, fractions where numbers are whole, and worse. Strictly, the first of
// these is an error with file, line and field; otherwise a Reader does the least harm, and counts what it did (Warnings).
//
// Select, Rezero, Renumber and Sort change a log in memory: fewer jobs, another second 0, other numbers. SurveyOf says what is in a log and what looks
// wrong in it. Neither mends anything. traces/replay decides which jobs a replay keeps.
package swf
