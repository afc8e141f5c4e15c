// Package managed has the sidecar's model of one managed job: what the journal keeps (Record), what
// is known now (Job), its promise, its nodes, and what it waits for. It makes no calls, reads no
// clock and writes no log. Times are arguments.
//
//	job, err := managed.Restore(data) // data is the record from the journal
//	if job.Phase == managed.Running && now > job.Due() { … }
package managed
