// Package readers gives users who may not open the sidecar's journal access to its contents. Only the
// journal's owner may open its files, because any process that opens a database file can lock the file
// against the sidecar. The programs of all other users send queries to the sidecar's socket. They ask
// for the documents that the loop published, and for entries of the journal. This package has both
// ends of the connection. The sidecar's end reads the journal itself, and does not use the loop.
//
//	s := readers.New(readers.Options{Journal: path, Name: name, Hides: hides, Log: log})
//	server, err := session.Listen(session.Options{Path: socket, Readers: s})
//
//	j := readers.Remote("/run/accordion/accordion.sock", path) // a journal.Reader
//	report, err := status.Read(j)
//
// If the batch system hides jobs from other users (Slurm's PrivateData), each user sees only their own
// jobs with names; other users' jobs appear without names. Each user has an allowance of concurrent
// answers, of queries and of bytes. A user who exceeds the allowance has to wait, and does not delay
// other users.
package readers
