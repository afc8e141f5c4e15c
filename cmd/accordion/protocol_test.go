package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"accordion/shim/wire/launcher/conformance"
)

// This test checks the table of docs/protocol.md for servers, on `accordion serve` with two clusters of 8 hosts.
func TestTheSidecarConformsToTheProtocolOfLaunchers(t *testing.T) {
	dir, err := os.MkdirTemp("", "conform") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := filepath.Join(dir, "accordion")
	copyFile(t, program) // this test binary is the program; its file name selects what it does
	list := ""
	for _, name := range []string{"a", "b"} {
		file := filepath.Join(dir, name+".toml")
		list += fmt.Sprintf("[[cluster]]\nconfig = %q\n", file)
		write(t, file, fmt.Sprintf("system = \"embedded\"\ncluster = %q\nembedded.nodes = 8\njournal.path = %q\nsession.socket = %q\n",
			name, filepath.Join(dir, name+".db"), filepath.Join(dir, name+".sock")))
	}
	config := filepath.Join(dir, "list.toml")
	write(t, config, list+fmt.Sprintf("[delegate]\njournal = %q\nfair_start = \"1s\"\n", filepath.Join(dir, "launchers.db")))

	serve := exec.Command(program, "serve", "--config", config)
	var said bytes.Buffer
	serve.Stderr = &said
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		serve.Process.Signal(os.Interrupt)
		if err := serve.Wait(); err != nil {
			t.Errorf("the sidecar ended: %v", err)
		}
		if t.Failed() {
			t.Logf("it said:\n%s", said.String())
		}
	})
	for end := time.Now().Add(time.Minute); !readsBoth(program, config); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("in a minute the sidecar has not read its clusters")
		}
	}
	conformance.Server(t, func(conn net.Conn) {
		defer conn.Close()
		to, err := new(net.Dialer).DialContext(context.Background(), "unix", filepath.Join(dir, "a.sock"))
		if err != nil {
			t.Error(err)
			return
		}
		defer to.Close()
		go func() {
			io.Copy(to, conn)
			to.Close()
		}()
		io.Copy(conn, to)
	})
}

// readsBoth reports whether both clusters were read, according to the sidecar's status. Before the first cycle, the status shows that
// launchers are served, but shows no cluster.
func readsBoth(program, config string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "status", "--config", config).Output()
	return err == nil && bytes.Contains(out, []byte(", last changed at")) && !bytes.Contains(out, []byte("not read"))
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
