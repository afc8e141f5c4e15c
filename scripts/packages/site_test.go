package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"accordion/internal/testenv"
)

// sitePatience limits the boot of a site, and the run of each command.
const sitePatience = 3 * time.Minute

// site is a host with a small Slurm from Debian's own packages. Its first process is a real systemd, in separate
// namespaces. The site's changes are in memory, and its network is a loopback interface.
type site struct {
	*testing.T
	first  int // the site's first process, as seen from this process
	groups []string
	typing time.Duration // CPU time of the commands
}

// bootSite boots a site with a Debian suite. On the site, /root/packages is the folder of the packages.
func bootSite(t *testing.T, suite, packages string) *site {
	t.Helper()
	s := bootHost(t, suite, packages)
	// Slurm resolves a name only if an interface other than lo has an address.
	sh(t, "nsenter", "--target", strconv.Itoa(s.first), "--net", "sh", "-ec", `ip link add world0 type veth peer name world1; ip address add 10.99.1.1/24 dev world0; ip link set world0 up; ip link set world1 up`)
	if out, err := s.run("/site/up"); err != nil {
		more, _ := s.run("systemctl --no-pager --failed; tail -n 5 /var/log/slurm/*.log")
		t.Fatalf("the cluster on Debian %s: %v\n%s%s", suite, err, out, more)
	}
	return s
}

// bootHost boots the host without a configured Slurm.
func bootHost(t *testing.T, suite, packages string) *site {
	t.Helper()
	testenv.Needs(t, testenv.Packages, testenv.Root)
	needs(t, "systemd-nspawn", "nsenter", "ip")
	root := released(t, "site", `release_root "$0" systemd systemd-sysv dbus slurmctld slurmd slurm-client slurmdbd slurm-wlm-basic-plugins munge mariadb-server nginx-light`, suite)
	own := t.TempDir()
	for name, text := range map[string]string{"hostname": "ctl\n", "hosts": "127.0.0.1 localhost ctl\n"} {
		if err := os.WriteFile(filepath.Join(own, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	testdata, err := filepath.Abs("testdata/site")
	if err != nil {
		t.Fatal(err)
	}
	told, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(own, "told"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	s := &site{T: t, groups: newGroups(t)}
	// The site's control groups are below those of this process. The site's /run has no files of this machine.
	c := exec.Command("unshare", append([]string{"--mount", "sh", "-c", `
		set -e
		groups=$1
		shift
		for g in $groups; do echo $$ >"$g/cgroup.procs"; done
		mount --make-rprivate /
		mount -t tmpfs tmpfs /run
		exec systemd-nspawn "$@"`, "site", strings.Join(s.groups, " "),
		"--quiet", "--volatile=overlay", "--private-network", "--register=no", "--keep-unit", "--console=pipe", "--machine=ctl", "--notify-ready=yes", "--directory=" + root},
		"--bind-ro="+filepath.Join(own, "hostname")+":/etc/hostname", "--bind-ro="+filepath.Join(own, "hosts")+":/etc/hosts",
		"--bind-ro=/dev/null:/etc/systemd/system/slurmd.service", // otherwise a slurmd looks for its controller for 90 s before the host counts as booted
		"--bind-ro=/dev/null:/etc/systemd/system/timers.target",  // otherwise Debian's daily jobs, such as dpkg-db-backup at midnight, change files during the test
		"--bind-ro="+testdata+":/site", "--bind-ro="+packages+":/root/packages", "--boot")...)
	c.Env = append(os.Environ(), "NOTIFY_SOCKET="+filepath.Join(own, "told"), "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1")
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		c.Wait() //nolint:errcheck // this process ended the command, so the error does not matter
		close(gone)
		told.Close()
	}()
	t.Cleanup(func() { s.end(c, gone) })
	if err := s.booted(told); err != nil {
		t.Fatalf("Debian %s does not boot: %v\n%s", suite, err, said.Bytes())
	}
	return s
}

// newGroups makes a control group for the site in each hierarchy in which systemd tracks processes. Both groups
// have the same name, because systemd-nspawn would create the second group with the name of the first.
func newGroups(t *testing.T) (made []string) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(mounts)) {
		cells := strings.Fields(row)
		if cells[2] != "cgroup2" && (cells[2] != "cgroup" || !slices.Contains(strings.Split(cells[3], ","), "name=systemd")) {
			continue
		}
		var group string
		if len(made) == 0 {
			group, err = os.MkdirTemp(cells[1], "accordion-site-")
		} else {
			group = filepath.Join(cells[1], filepath.Base(made[0]))
			err = os.Mkdir(group, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, group)
	}
	return made
}

// booted waits until the PID of the container's init is known and init has started all services.
func (s *site) booted(told *net.UnixConn) error {
	if err := told.SetReadDeadline(time.Now().Add(sitePatience)); err != nil {
		return err
	}
	text := make([]byte, 4096)
	for ready := false; !ready || s.first == 0; {
		n, err := told.Read(text)
		if err != nil {
			return err
		}
		for row := range strings.Lines(string(text[:n])) {
			key, value, _ := strings.Cut(strings.TrimSpace(row), "=")
			switch key {
			case "READY":
				ready = true
			case "X_NSPAWN_LEADER_PID":
				if s.first, err = strconv.Atoi(value); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// end kills the first process. This ends all other processes of the site, too.
func (s *site) end(c *exec.Cmd, gone <-chan struct{}) {
	if s.first > 0 {
		unix.Kill(s.first, unix.SIGKILL) //nolint:errcheck // it may have ended
	} else {
		c.Process.Kill() //nolint:errcheck // it may have ended
	}
	select {
	case <-gone:
	case <-time.After(30 * time.Second):
		c.Process.Kill() //nolint:errcheck // it may have ended
		<-gone
	}
	for _, group := range s.groups {
		var folders []string
		filepath.WalkDir(group, func(path string, d fs.DirEntry, _ error) error { //nolint:errcheck // what is left is reported below
			if d != nil && d.IsDir() {
				folders = append(folders, path)
			}
			return nil
		})
		for _, f := range slices.Backward(folders) {
			for until := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) { // there is no event for the end of the last process
				err := os.Remove(f)
				if err == nil || errors.Is(err, fs.ErrNotExist) {
					break
				}
				if time.Now().After(until) {
					s.Errorf("of the site is left: %v", err)
					break
				}
			}
		}
	}
}

// run runs a command as root in the folder of the packages, and returns its output.
func (s *site) run(command string) (string, error) {
	s.Helper()
	return s.typed("/root/packages", "/bin/sh", "-c", command)
}

// as runs a command as a user who has logged in.
func (s *site) as(user, command string) (string, error) {
	s.Helper()
	return s.typed("/", "/bin/su", "-", user, "-c", command)
}

func (s *site) typed(folder string, words ...string) (string, error) {
	s.Helper()
	ctx, end := context.WithTimeout(s.Context(), sitePatience)
	defer end()
	c := exec.CommandContext(ctx, "nsenter", append([]string{"--target", strconv.Itoa(s.first), "--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--wdns=" + folder, "--"}, words...)...)
	c.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8"}
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	if c.ProcessState != nil {
		s.typing += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	return string(out), err
}

// reach returns an address on this machine's loopback interface. Connections to it lead to an address on the site's
// loopback interface, as with ssh -L.
func (s *site) reach(address string) string {
	s.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer near.Close()
				far, err := s.dial(address)
				if err != nil {
					return
				}
				defer far.Close()
				var both sync.WaitGroup
				both.Go(func() { far.(*net.TCPConn).ReadFrom(near); far.(*net.TCPConn).CloseWrite() })  //nolint:errcheck // a browser disconnects
				both.Go(func() { near.(*net.TCPConn).ReadFrom(far); near.(*net.TCPConn).CloseWrite() }) //nolint:errcheck // a browser disconnects
				both.Wait()
			}()
		}
	}()
	return l.Addr().String()
}

// dial opens a connection in the site's network. Its thread stays in that network, so the thread ends with the
// goroutine.
func (s *site) dial(address string) (net.Conn, error) {
	type opened struct {
		net.Conn
		error
	}
	done := make(chan opened)
	go func() {
		runtime.LockOSThread()
		ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", s.first))
		if err == nil {
			defer ns.Close()
			err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET)
		}
		var conn net.Conn
		if err == nil {
			conn, err = net.Dial("tcp", address)
		}
		done <- opened{conn, err}
	}()
	o := <-done
	return o.Conn, o.error
}

// processors returns the CPU time of the site's daemons and commands.
func (s *site) processors() time.Duration {
	for _, group := range s.groups {
		text, err := os.ReadFile(filepath.Join(group, "cpu.stat"))
		if used := regexp.MustCompile(`usage_usec (\d+)`).FindSubmatch(text); err == nil && used != nil {
			micro, _ := strconv.Atoi(string(used[1]))
			return s.typing + time.Duration(micro)*time.Microsecond
		}
	}
	return 0
}
