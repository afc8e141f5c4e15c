package shim

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/shim/seal"
	"accordion/shim/seal/sealtest"
	"accordion/shim/wire"
)

func TestSidecarIsFoundByEnvironmentFileOrDefault(t *testing.T) {
	dir := t.TempDir()
	conf := func(name, address string) string {
		sub := filepath.Join(dir, name)
		if err := os.Mkdir(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, addressFile), []byte(address), 0o644); err != nil {
			t.Fatal(err)
		}
		return sub
	}
	plain := conf("plain", "\n# where the sidecar is\n  ctl:6820 \nmore: is not read")
	munge := conf("munge", "ctl:6820 /m")
	empty := conf("empty", "# nothing\n\n")
	bad := conf("bad", "one two three")
	huge := conf("huge", strings.Repeat("x", 1<<16))
	pipe := filepath.Join(dir, "pipe")
	if err := os.Mkdir(pipe, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(pipe, addressFile), 0o644); err != nil {
		t.Fatal(err)
	}
	absent := filepath.Join(dir, "absent")
	for name, c := range map[string]struct {
		env         environment
		directories []string
		want        endpoint
		wrong       string
	}{
		"nothing is said":                   {nil, []string{absent}, endpoint{socket: wire.Socket}, ""},
		"the socket before all":             {environment{"ACCORDION_SOCKET": "/s", "ACCORDION_ADDRESS": "ctl:1"}, []string{plain}, endpoint{socket: "/s"}, ""},
		"the address before the file":       {environment{"ACCORDION_ADDRESS": "ctl:1"}, []string{plain}, endpoint{address: "ctl:1"}, ""},
		"the address with munge's socket":   {environment{"ACCORDION_ADDRESS": "ctl:1", "ACCORDION_MUNGE_SOCKET": "/m"}, nil, endpoint{address: "ctl:1", munge: "/m"}, ""},
		"the file":                          {nil, []string{absent, plain}, endpoint{address: "ctl:6820"}, ""},
		"the file with munge's socket":      {nil, []string{munge, plain}, endpoint{address: "ctl:6820", munge: "/m"}, ""},
		"a file that says nothing":          {nil, []string{empty, plain}, endpoint{address: "ctl:6820"}, ""},
		"a pipe with the file's name":       {nil, []string{pipe, plain}, endpoint{address: "ctl:6820"}, ""},
		"variables that are set to nothing": {environment{"ACCORDION_SOCKET": "", "ACCORDION_ADDRESS": ""}, nil, endpoint{socket: wire.Socket}, ""},
		"a file that says too much":         {nil, []string{bad}, endpoint{}, addressFile},
		"a huge file":                       {nil, []string{huge}, endpoint{}, "HOST:PORT"},
		"an address without a port":         {environment{"ACCORDION_ADDRESS": "ctl"}, nil, endpoint{}, "ACCORDION_ADDRESS"},
		"a port without an address":         {environment{"ACCORDION_ADDRESS": ":1"}, nil, endpoint{}, "HOST:PORT"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := find(c.env.lookup, c.directories)
			if got != c.want || (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("got %+v, %v; want %+v %s", got, err, c.want, c.wrong)
			}
			if err != nil && len(err.Error()) > 400 {
				t.Errorf("the error is too long: %v", err)
			}
		})
	}
}

func TestAddressFileIsInTheConfigurationDirectory(t *testing.T) {
	for _, env := range []environment{{"SLURM_CONF": "/cluster/etc/slurm.conf"}, {"OARCONFFILE": "/cluster/etc/oar.conf"}} {
		if got := configDirs(env.lookup); got[0] != "/cluster/etc" {
			t.Errorf("%v: looked for in %v", env, got)
		}
	}
	if got := configDirs(environment{}.lookup); got[0] != "/etc/accordion" {
		t.Errorf("without SLURM_CONF looked for in %v", got)
	}
}

// far starts a fake sidecar at a TCP address. It handles each connection with the next of the given functions.
func far(t *testing.T, does ...func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			does[min(i, len(does)-1)](conn)
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	return l.Addr().String()
}

// answers returns a function that handles a connection as a real sidecar of the user does.
func answers(a seal.Authority) func(net.Conn) {
	return func(conn net.Conn) {
		c, err := seal.Accept(context.Background(), conn, a)
		if err != nil {
			return
		}
		if _, err := wire.ReadRequest(c); err == nil {
			wire.WriteReply(c, resized)
		}
	}
}

func TestBusySidecarOverTCPIsAskedAgain(t *testing.T) {
	realm := sealtest.NewRealm()
	busy := func(conn net.Conn) { seal.Busy(conn, "full") }
	dies := func(conn net.Conn) { seal.Accept(context.Background(), conn, realm.User(0)) }
	address := far(t, busy, dies, answers(realm.User(0)))
	c := &client{timeouts: defaultTimeouts, dial: func(ctx context.Context) (net.Conn, error) {
		return dialTCP(ctx, address, realm.User(uint32(os.Getuid())), silenceLimit)
	}}
	reply, err := c.ask(t.Context(), wire.Request{Job: 7}, 0)
	if err != nil || !cmp.Equal(reply, resized) {
		t.Fatalf("got %+v, %v", reply, err)
	}
}

func TestBusySidecarOverTCPCountsAsReached(t *testing.T) {
	address := far(t, func(conn net.Conn) { seal.Busy(conn, "full") })
	c := &client{timeouts: defaultTimeouts, dial: func(ctx context.Context) (net.Conn, error) {
		return dialTCP(ctx, address, sealtest.NewRealm().User(0), silenceLimit)
	}}
	if _, took, err := c.try(t.Context(), wire.Request{Job: 7}); !took || err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("took %v, %v; want an outage's patience, not an absent one's", took, err)
	}
}

func TestSidecarThatRejectsACredentialSendsTheReason(t *testing.T) {
	address := far(t, answers(sealtest.NewRealm().User(0)))
	c := &client{timeouts: defaultTimeouts, dial: func(ctx context.Context) (net.Conn, error) {
		realm := sealtest.NewRealm()
		return dialTCP(ctx, address, garbler{realm.User(0)}, silenceLimit)
	}}
	var refused *seal.RefusedError
	if _, _, err := c.try(t.Context(), wire.Request{Job: 7}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "credential") {
		t.Errorf("got %v", err)
	}
}

// garbler is an authority that makes invalid credentials.
type garbler struct{ seal.Authority }

func (garbler) Make(context.Context, []byte) (string, error) { return "nonsense", nil }

func TestSidecarOfAnotherUserIsRejected(t *testing.T) {
	realm := sealtest.NewRealm()
	address := far(t, answers(realm.User(4711)))
	c := &client{timeouts: defaultTimeouts, dial: func(ctx context.Context) (net.Conn, error) {
		return dialTCP(ctx, address, realm.User(uint32(os.Getuid())), silenceLimit)
	}}
	if reply, _, err := c.try(t.Context(), wire.Request{Job: 7}); err == nil || !strings.Contains(err.Error(), "user 4711") {
		t.Errorf("got %+v, %v", reply, err)
	}
}

func TestErrorWithoutMungeNamesMunge(t *testing.T) {
	realm := sealtest.NewRealm()
	realm.Break(seal.ErrUnavailable)
	address := far(t, answers(sealtest.NewRealm().User(0)))
	quick := defaultTimeouts
	quick.first = 200 * time.Millisecond
	c := &client{timeouts: quick, dial: func(ctx context.Context) (net.Conn, error) {
		return dialTCP(ctx, address, realm.User(0), silenceLimit)
	}}
	out := step(t.Context(), Options{Getenv: inSlurm(t).lookup}, c)
	if out.Status != StatusNoSidecar || !strings.Contains(out.Message, "munge") {
		t.Errorf("status %d: %s", out.Status, out.Message)
	}
}

func TestACallThatIsInterruptedWhileTheSidecarIsSilentEndsAtOnce(t *testing.T) {
	held := make(chan struct{})
	address := far(t, func(conn net.Conn) { <-held })
	defer close(held)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	done := make(chan error, 1)
	go func() {
		_, err := dialTCP(ctx, address, sealtest.NewRealm().User(0), silenceLimit)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("connected without a challenge")
		}
	case <-time.After(dialTimeout - time.Second):
		t.Error("it waits on")
	}
}

func TestASidecarsHostThatVanishesIsNoticed(t *testing.T) {
	controller, node := sealtest.Cable(t)
	var l net.Listener
	var err error
	controller.In(t, func() { l, err = net.Listen("tcp", controller.Address+":6820") })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	took := make(chan error, 1)
	gone := make(chan struct{})
	go func() { // the sidecar reads the request, then its host disappears
		conn, err := l.Accept()
		if err != nil {
			took <- err
			return
		}
		defer conn.Close()
		c, err := seal.Accept(context.Background(), conn, seal.NewMunge(controller.Munge))
		if err == nil {
			_, err = wire.ReadRequest(c)
		}
		took <- err
		<-gone
	}()
	defer close(gone)
	c := &client{timeouts: defaultTimeouts, dial: func(ctx context.Context) (conn net.Conn, err error) {
		node.In(t, func() { conn, err = dialTCP(ctx, l.Addr().String(), seal.NewMunge(node.Munge), 6*time.Second) })
		return conn, err
	}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, _, err := c.try(ctx, wire.Request{Job: 7})
		ended <- err
	}()
	if err := <-took; err != nil {
		t.Fatal(err)
	}
	controller.PullTheCable(t)
	if err := <-ended; ctx.Err() != nil || err == nil { // the error is a timeout, or "no route to host"
		t.Errorf("got %v", err)
	}
}

// FuzzAddressFile checks that for any text in the file the shim gets an address with a host and a port, or a short
// error of one line.
func FuzzAddressFile(f *testing.F) {
	f.Add("ctl:6820")
	f.Add("# comment\n[::1]:6820 /run/munge/socket\n")
	f.Add("a b c")
	f.Add("::::\x00")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(dir, addressFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := find(environment{}.lookup, []string{dir})
		if err != nil {
			if messages := oneLine(err.Error()); len(messages) > 600+len(dir) {
				t.Fatalf("%d bytes: %s", len(messages), messages)
			}
			return
		}
		if p.socket == "" {
			if host, port, err := net.SplitHostPort(p.address); err != nil || host == "" || port == "" {
				t.Fatalf("%q is taken for an address: %q, %q, %v", p.address, host, port, err)
			}
		}
	})
}
