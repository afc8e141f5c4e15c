// Package readers answers users who may not open the sidecar's journal, and asks for them. Only the journal's owner may open its
// files, for whoever can open one can lock it against the sidecar. Everyone else asks over the sidecar's socket: for the
// documents that the loop published, and for entries. The answers come from connections to the journal of their own, and never from
// the loop.
//
//	s := readers.New(readers.Options{Journal: path, Name: name, Hides: hides, Log: log})
//	server, err := session.Listen(session.Options{Path: socket, Readers: s})
//
//	j := readers.Remote("/run/accordion/accordion.sock", path) // a journal.Reader
//	report, err := status.Read(j)
//
// Where the batch system hides jobs from other users (Slurm's PrivateData) each user sees their own jobs, and those of others without
// their names. Each user has an allowance of answers at once, of questions and of bytes: one who asks for more waits, and
// nobody else does.
package readers
