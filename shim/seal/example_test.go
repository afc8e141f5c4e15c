package seal_test

import (
	"context"
	"fmt"
	"net"
	"os"

	"accordion/shim/seal"
	"accordion/shim/seal/sealtest"
	"accordion/shim/wire"
)

// A shim asks a sidecar on another host. In this example both are in one process and do not need munge. A real shim and a real sidecar use
// seal.NewMunge("") in place of the realm's users.
func Example() {
	realm := sealtest.NewRealm()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer listener.Close()
	go func() {
		raw, err := listener.Accept()
		if err != nil {
			return
		}
		defer raw.Close()
		conn, err := seal.Accept(context.Background(), raw, realm.User(0))
		if err != nil {
			return
		}
		request, err := wire.ReadRequest(conn)
		if err != nil {
			return
		}
		wire.WriteReply(conn, wire.Reply{Status: wire.Resized, Why: fmt.Sprintf("user %d asks for job %d", conn.UID(), request.Job)})
	}()

	raw, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer raw.Close()
	conn, err := seal.Connect(context.Background(), raw, realm.User(1001), seal.RootOr(os.Getuid()))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := wire.WriteRequest(conn, wire.Request{Job: 4711}); err != nil {
		fmt.Println(err)
		return
	}
	reply, err := wire.ReadReply(conn)
	fmt.Println(reply.Status, reply.Why, err)
	// Output: resized user 1001 asks for job 4711 <nil>
}
