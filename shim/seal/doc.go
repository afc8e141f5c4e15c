// Package seal proves over a network who wrote a message. On one machine the kernel tells who is at the other end of a
// socket; between machines munge does, which every Slurm cluster has: one key on all its hosts, and credentials that say
// which user made them.
//
//	the sidecar (Accept)                          the shim (Connect)
//	  Challenge: 32 random bytes, the nonce  ──►
//	                                         ◄──  Proof: credential over nonce and request; Request
//	  Proof: credential over nonce and reply; Reply  ──►
//
// A credential's payload is a word for its direction, the nonce and the SHA-256 of the frame after it. So it is worth
// nothing in another session (another nonce), for another request (another digest), in the other direction or for
// another program (the word), a second time (the nonce; munge itself remembers credentials, too), or late (munge's time to
// live, and MaxAge). Both sides prove themselves: a program that takes the sidecar's port while it is down
// cannot lie to jobs.
//
// Nothing is kept secret: who listens learns which nodes jobs get, as squeue tells everybody.
//
// A Conn is a net.Conn on which package wire reads and writes as on any other:
//
//	raw, err := net.Dial("tcp", "controller:6820")
//	…
//	conn, err := seal.Connect(ctx, raw, seal.NewMunge(""), seal.RootOr(os.Getuid()))
//	…
//	err = wire.WriteRequest(conn, wire.Request{Job: 4711})
//	reply, err := wire.ReadReply(conn)
//
// Long sessions (launchers; docs/protocol.md) prove their first frame each way so, and tell each other a public key in it; a
// Stream carries the frames that follow, each with a code under the key that comes of both.
//
// It knows nothing of jobs, and has no deadlines but those of the programs it runs: the connection's are its owner's.
package seal
