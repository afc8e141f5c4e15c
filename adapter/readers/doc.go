// Package readers answers users who may not open the sidecar's journal, and sends their queries.
// Only the journal's owner may open its files, because a process that can open a file of a database
// can lock it against the sidecar. All other users ask over the sidecar's socket for the documents
// that the loop published, and for entries. This package answers them over its own connections to
// the journal, without the loop.
//
//	s := readers.New(readers.Options{Journal: path, Name: name, Hides: hides, Log: log})
//	server, err := session.Listen(session.Options{Path: socket, Readers: s})
//
//	j := readers.Remote("/run/accordion/accordion.sock", path) // a journal.Reader
//	report, err := status.Read(j)
//
// If the batch system hides jobs from other users (Slurm's PrivateData), each user sees their own
// jobs, and other users' jobs appear without names. Each user has an allowance of concurrent
// answers, of questions and of bytes. A user who asks for more has to wait, and delays no other
// user.
package readers
