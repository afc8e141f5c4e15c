package seal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"accordion/shim/seal"
	"accordion/shim/seal/sealtest"
	"accordion/shim/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const alice, mallory = 1001, 1002

// pipe returns a connection whose two ends live as long as the test, and at most a minute.
func pipe(t *testing.T) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if near, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if far, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []net.Conn{near, far} {
		c.SetDeadline(time.Now().Add(time.Minute))
		t.Cleanup(func() { c.Close() })
	}
	return near, far
}

// sidecar takes one session, answers it with the job's number, and reports what it saw.
type sidecar struct {
	uid     uint32
	request wire.Request
	err     error
}

func serve(ctx context.Context, conn net.Conn, a seal.Authority) <-chan sidecar {
	done := make(chan sidecar, 1)
	go func() {
		defer conn.Close()
		c, err := seal.Accept(ctx, conn, a)
		if err != nil {
			done <- sidecar{err: err}
			return
		}
		request, err := wire.ReadRequest(c)
		if err == nil {
			err = wire.WriteReply(c, wire.Reply{Status: wire.Resized, Generation: int(request.Job)})
		}
		done <- sidecar{uid: c.UID(), request: request, err: err}
	}()
	return done
}

// ask makes one session of a shim.
func ask(ctx context.Context, conn net.Conn, a seal.Authority, r wire.Request) (wire.Reply, error) {
	defer conn.Close()
	c, err := seal.Connect(ctx, conn, a, seal.RootOr(alice))
	if err != nil {
		return wire.Reply{}, err
	}
	if err := wire.WriteRequest(c, r); err != nil {
		return wire.Reply{}, err
	}
	return wire.ReadReply(c)
}

func TestARequestArrivesWithTheUserWhoMadeItAndIsAnswered(t *testing.T) {
	realm := sealtest.NewRealm()
	near, far := pipe(t)
	done := serve(t.Context(), far, realm.User(0))
	reply, err := ask(t.Context(), near, realm.User(alice), wire.Request{Job: 7, Keep: "n[1-3]"})
	if err != nil || reply.Generation != 7 {
		t.Fatalf("got %+v, %v", reply, err)
	}
	if got := <-done; got.err != nil || got.uid != alice || got.request.Job != 7 || got.request.Keep != "n[1-3]" {
		t.Errorf("the sidecar saw %+v", got)
	}
}

// onTheWay connects a shim and a sidecar through functions that may change the bytes between them. A function gets each write of one side.
func onTheWay(t *testing.T, toSidecar, toShim func([]byte) []byte) (shim, side net.Conn) {
	t.Helper()
	shim, a := pipe(t)
	side, b := pipe(t)
	copying := func(to, from net.Conn, change func([]byte) []byte) {
		defer to.Close()
		buffer := make([]byte, 1<<17)
		for {
			n, err := from.Read(buffer)
			if err != nil {
				return
			}
			if _, err := to.Write(change(bytes.Clone(buffer[:n]))); err != nil {
				return
			}
		}
	}
	go copying(b, a, toSidecar)
	go copying(a, b, toShim)
	return shim, side
}

func same(b []byte) []byte { return b }

func TestChangedMessageIsRejected(t *testing.T) {
	realm := sealtest.NewRealm()
	change := func(old, new string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(old), []byte(new)) }
	}
	t.Run("the request", func(t *testing.T) {
		shim, side := onTheWay(t, change("n[1-3]", "n[7-9]"), same)
		done := serve(t.Context(), side, realm.User(0))
		if _, err := ask(t.Context(), shim, realm.User(alice), wire.Request{Job: 7, Keep: "n[1-3]"}); err == nil {
			t.Error("the shim got an answer")
		}
		var bad *seal.CredentialError
		if got := <-done; !errors.As(got.err, &bad) || !strings.Contains(got.err.Error(), "another message") {
			t.Errorf("the sidecar saw %+v", got)
		}
	})
	t.Run("the reply", func(t *testing.T) {
		shim, side := onTheWay(t, same, change("resized", "refused"))
		done := serve(t.Context(), side, realm.User(0))
		var bad *seal.CredentialError
		if reply, err := ask(t.Context(), shim, realm.User(alice), wire.Request{Job: 7}); !errors.As(err, &bad) {
			t.Errorf("the shim got %+v, %v", reply, err)
		}
		<-done
	})
}

// captured returns what one honest session sends to the sidecar.
func captured(t *testing.T, realm *sealtest.Realm) []byte {
	t.Helper()
	var sent bytes.Buffer
	shim, side := onTheWay(t, func(b []byte) []byte { sent.Write(b); return b }, same)
	done := serve(t.Context(), side, realm.User(0))
	if _, err := ask(t.Context(), shim, realm.User(alice), wire.Request{Job: 7}); err != nil {
		t.Fatal(err)
	}
	<-done
	return bytes.Clone(sent.Bytes())
}

// play sends bytes unchanged after the challenge, and returns the reason that the sidecar sends instead of a proof.
func play(t *testing.T, conn net.Conn, sent []byte) string {
	t.Helper()
	if _, err := wire.ReadChallenge(conn); err != nil {
		t.Fatal(err)
	}
	go conn.Write(sent)
	proof, err := wire.ReadProof(conn)
	if err != nil {
		return err.Error()
	}
	return proof.Why
}

func TestACapturedSessionCannotBePlayedAgain(t *testing.T) {
	realm := sealtest.NewRealm()
	sent := captured(t, realm)
	for name, authority := range map[string]seal.Authority{
		"to the same hosts":                realm.User(0),
		"to a host that never saw it used": forgetful{realm},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := pipe(t)
			done := serve(t.Context(), far, authority)
			why := play(t, near, sent)
			var bad *seal.CredentialError
			if got := <-done; !errors.As(got.err, &bad) || !strings.Contains(why, bad.Why) {
				t.Errorf("the sidecar saw %+v and replied %q", got, why)
			}
		})
	}
}

// forgetful is an authority that accepts a credential any number of times, so that only the nonce protects against replays.
type forgetful struct{ realm *sealtest.Realm }

func (f forgetful) Make(ctx context.Context, payload []byte) (string, error) {
	return f.realm.User(0).Make(ctx, payload)
}

func (f forgetful) Read(ctx context.Context, credential string) ([]byte, uint32, error) {
	_, rest, _ := strings.Cut(credential, " ")
	fresh, _ := f.Make(ctx, nil)
	serial, _, _ := strings.Cut(fresh, " ")
	return f.realm.User(0).Read(ctx, serial+"0000 "+rest)
}

func TestForgetfulAuthorityAcceptsACredentialTwice(t *testing.T) {
	realm := sealtest.NewRealm()
	f := forgetful{realm}
	credential, err := realm.User(alice).Make(t.Context(), []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if payload, uid, err := f.Read(t.Context(), credential); err != nil || uid != alice || string(payload) != "x" {
			t.Fatalf("got %q, %d, %v", payload, uid, err)
		}
	}
}

func TestOnlyRootOrTheUserHimselfMayAnswer(t *testing.T) {
	realm := sealtest.NewRealm()
	for by, may := range map[uint32]bool{0: true, alice: true, mallory: false} {
		near, far := pipe(t)
		done := serve(t.Context(), far, realm.User(by))
		reply, err := ask(t.Context(), near, realm.User(alice), wire.Request{Job: 7})
		if (err == nil) != may {
			t.Errorf("a sidecar of user %d: %+v, %v", by, reply, err)
		}
		<-done
	}
}

func TestAProofServesOneDirectionOnly(t *testing.T) {
	realm := sealtest.NewRealm()
	near, far := pipe(t)
	go func() { // an attacker sends the shim's own proof and request back as the answer
		defer far.Close()
		wire.WriteChallenge(far, wire.Challenge{Nonce: make([]byte, wire.NonceSize)})
		buffer := make([]byte, 1<<17)
		n, _ := far.Read(buffer)
		far.Write(buffer[:n])
	}()
	var bad *seal.CredentialError
	if reply, err := ask(t.Context(), near, realm.User(alice), wire.Request{Job: 7}); !errors.As(err, &bad) || !strings.Contains(err.Error(), "another session") {
		t.Errorf("got %+v, %v", reply, err)
	}
}

func TestBadProofIsRefused(t *testing.T) {
	realm := sealtest.NewRealm()
	proof := func(p wire.Proof) []byte {
		var b bytes.Buffer
		if err := wire.WriteProof(&b, p); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	made := func(payload string) []byte {
		credential, err := realm.User(alice).Make(t.Context(), []byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		return proof(wire.Proof{Credential: credential})
	}
	for name, c := range map[string]struct {
		sent []byte
		want string
	}{
		"garbage for a credential": {proof(wire.Proof{Credential: "MUNGE:hello:"}), "none that this realm knows"},
		"another program's":        {made("slurm says hello"), "another session"},
		"a credential of nothing":  {made(""), "another session"},
		"a reason for a proof":     {proof(wire.Proof{Why: "because"}), "because"},
		"a request without proof":  {[]byte("\x00\x00\x00\x09\x82\xa1v\x01\xa3job\x07"), "malformed"},
		"64 KiB of rubbish":        {append([]byte{0, 0, 0xff, 0xff}, make([]byte, 0xffff)...), "at most 4096"},
		"an HTTP request":          {[]byte("GET / HTTP/1.1\r\n\r\n"), "at most 4096"},
		"half a proof":             {made("x")[:9], "truncated"},
		"nothing":                  {nil, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := pipe(t)
			done := serve(t.Context(), far, realm.User(0))
			if _, err := wire.ReadChallenge(near); err != nil {
				t.Fatal(err)
			}
			written := make(chan struct{})
			go func() {
				defer close(written)
				near.Write(c.sent)
				near.(*net.TCPConn).CloseWrite()
			}()
			if got := <-done; got.err == nil || !strings.Contains(got.err.Error(), c.want) {
				t.Errorf("the sidecar saw %+v, want %q", got, c.want)
			}
			<-written
		})
	}
}

func TestBusySidecarIsDistinguishedFromAnAbsentOne(t *testing.T) {
	near, far := pipe(t)
	go seal.Busy(far, "too many\xff"+strings.Repeat("x", 5000))
	_, err := seal.Connect(t.Context(), near, sealtest.NewRealm().User(alice), seal.RootOr(alice))
	var busy *seal.RefusedError
	if !errors.As(err, &busy) || !strings.HasPrefix(busy.Why, "too many?") {
		t.Fatalf("got %v", err)
	}
}

func TestBothSidesReportMissingMunge(t *testing.T) {
	realm := sealtest.NewRealm()
	realm.Break(fmt.Errorf("%w: down", seal.ErrUnavailable))
	t.Run("the shim", func(t *testing.T) {
		near, far := pipe(t)
		done := serve(t.Context(), far, realm.User(0))
		if _, err := ask(t.Context(), near, realm.User(alice), wire.Request{Job: 7}); !errors.Is(err, seal.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		<-done // The shim has closed the connection, so the sidecar does not wait.
	})
	t.Run("the sidecar", func(t *testing.T) {
		near, far := pipe(t)
		done := serve(t.Context(), far, realm.User(0))
		_, err := ask(t.Context(), near, sealtest.NewRealm().User(alice), wire.Request{Job: 7})
		if !errors.Is((<-done).err, seal.ErrUnavailable) {
			t.Error("the sidecar does not know")
		}
		var refused *seal.RefusedError
		if !errors.As(err, &refused) || !strings.Contains(refused.Why, "down") {
			t.Errorf("the shim got %v", err)
		}
	})
}

// FuzzAccept checks that the sidecar gets no request from an unknown peer, whatever it sends after the challenge.
func FuzzAccept(f *testing.F) {
	realm := sealtest.NewRealm()
	f.Add([]byte("\x00\x00\x00\x09\x82\xa1v\x01\xa3job\x07"))
	f.Add([]byte("\x00\x00\x00\x18\x82\xaacredential\xa8MUNGE:x:\xa1v\x01"))
	f.Fuzz(func(t *testing.T, in []byte) {
		near, far := pipe(t)
		done := serve(t.Context(), far, realm.User(0))
		near.Write(in)
		near.(*net.TCPConn).CloseWrite()
		if got := <-done; got.err == nil {
			t.Fatalf("believed: %+v", got)
		}
	})
}
