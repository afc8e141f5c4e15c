// Package managed is one managed job: what is remembered of it (Record), what is known of it now (Job), its promise, its
// nodes, and what it waits for. It asks no batch system, reads no clock and writes no log: the second is an argument.
//
//	job, err := managed.Restore(data) // of the journal
//	if job.Phase == managed.Running && now > job.Due() { … }
package managed
