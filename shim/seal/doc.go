// Package seal proves which user wrote a message that comes over a network. On one machine the kernel knows which user
// is at the other end of a socket. Between machines munge does that, and every Slurm cluster has munge. All hosts
// share a key, and a credential proves which user made it.
//
//	the sidecar (Accept)                          the shim (Connect)
//	  Challenge: 32 random bytes, the nonce  ──►
//	                                         ◄──  Proof: credential over nonce and request; Request
//	  Proof: credential over nonce and reply; Reply  ──►
//
// A credential's payload is a prefix for its direction, the nonce, and the SHA-256 of the frame after it. The nonce
// prevents use in another session, and a second use. (munge itself remembers credentials, too.) The digest prevents
// use for another request. The prefix prevents use in the other direction or for another program. munge's time to live
// and MaxAge prevent late use. Both sides prove their users, so a program that takes the sidecar's port while the
// sidecar is down cannot deceive jobs.
//
// Nothing is encrypted. A reader of the network learns which nodes jobs get, which squeue also shows to every user.
//
// A Conn is a net.Conn on which package wire reads and writes as on any other net.Conn:
//
//	raw, err := net.Dial("tcp", "controller:6820")
//	…
//	conn, err := seal.Connect(ctx, raw, seal.NewMunge(""), seal.RootOr(os.Getuid()))
//	…
//	err = wire.WriteRequest(conn, wire.Request{Job: 4711})
//	reply, err := wire.ReadReply(conn)
//
// Long sessions (of launchers; docs/protocol.md) prove their first frame in each direction this way. Each of these frames contains a public
// key. From the two keys both ends compute a shared key. A Stream carries the later frames, each with an authentication code under that
// shared key.
//
// The package knows nothing about jobs. It limits only the time of the programs that it runs; the owner of a connection sets the
// connection's deadlines.
package seal
