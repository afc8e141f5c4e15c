// Package readers answers users who may not open the sidecar's journal, and sends their queries.
// Only the journal's owner may open its files, because a process that can open one can lock it
// against the sidecar. Everyone else asks over the sidecar's socket: for the documents that the
// loop published, and for entries. The answers use their own connections to the journal, and never
// come from the loop.
//
//	s := readers.New(readers.Options{Journal: path, Name: name, Hides: hides, Log: log})
//	server, err := session.Listen(session.Options{Path: socket, Readers: s})
//
//	j := readers.Remote("/run/accordion/accordion.sock", path) // a journal.Reader
//	report, err := status.Read(j)
//
// Where the batch system hides jobs from other users (Slurm's PrivateData), each user sees their
// own jobs. Jobs of other users appear without names. Each user has an allowance of answers at
// once, of questions and of bytes. A user who asks for more waits, and no other user does.
package readers
