package databasetest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"accordion/oar/conf"
	"accordion/oar/database"
)

// PostgreSQL starts a real PostgreSQL server with OAR's tables for the test. The caller checks with internal/testenv that PostgreSQL is
// installed. The server has the machine's clock, and does not support Said and Fail.
func PostgreSQL(t testing.TB) *Server {
	t.Helper()
	programs, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(programs) == 0 {
		t.Fatal("no PostgreSQL is installed")
	}
	bin := filepath.Dir(programs[len(programs)-1])
	dir, err := os.MkdirTemp("", "accordion-pg-") // a socket's path must be short, and t.TempDir() belongs to another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	as := unprivileged(t, dir)
	run := func(name string, args ...string) {
		t.Helper()
		c := exec.Command(filepath.Join(bin, name), args...)
		c.SysProcAttr, c.Dir = as, dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	data, port := filepath.Join(dir, "data"), freePort(t)
	run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	run("pg_ctl", "-D", data, "-w", "-t", "60", "-l", filepath.Join(dir, "log"), "-o", fmt.Sprintf("-c listen_addresses=127.0.0.1 -c port=%d -c unix_socket_directories=%s -c fsync=off", port, dir), "start")
	t.Cleanup(func() { run("pg_ctl", "-D", data, "-w", "-t", "60", "-m", "immediate", "stop") })
	who := conf.Login{User: "postgres"}
	db, err := database.Open(conf.Conf{Type: "Pg", Host: "127.0.0.1", Port: port, Database: "postgres", Login: who, ReadOnly: who})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := &Server{DB: db, t: t}
	s.Do(strings.Split(Schema, ";\n")...)
	return s
}

// unprivileged returns the attributes to run a program as an unprivileged user, and makes that user the owner of `dir`. It returns nil if
// the test does not run as root.
func unprivileged(t testing.TB, dir string) *syscall.SysProcAttr {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

// freePort returns a port on which nothing listened a moment ago.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
