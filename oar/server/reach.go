package server

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// OARAccount owns OAR's files on every node.
const OARAccount = "oar"

// Remote reaches nodes as OAR's account.
type Remote struct{ Command string } // OPENSSH_CMD

// Run executes a command line on a node, with input, and returns what it printed. `options` are additional options for
// ssh.
func (r Remote) Run(ctx context.Context, host, line, input string, options ...string) (string, error) {
	command := strings.Fields(r.Command)
	if len(command) == 0 {
		return "", fmt.Errorf("OPENSSH_CMD is empty")
	}
	c := Program(ctx, command[0], slices.Concat(command[1:], []string{"-x", "-T"}, options, []string{host, line})...)
	c.Env, c.Dir = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/var/lib/oar", "USER=" + OARAccount, "LOGNAME=" + OARAccount}, "/"
	if os.Geteuid() == 0 {
		uid, gid, err := Lookup(ctx, OARAccount)
		if err != nil {
			return "", err
		}
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
	c.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return out.String(), fmt.Errorf("on node %s: %w: %s", host, err, strings.Join(strings.Fields(errs.String()), " "))
	}
	return out.String(), nil
}

// Script runs a shell script on a node as OAR's account, with arguments and input.
func (r Remote) Script(ctx context.Context, host, text, input string, args ...string) (string, error) {
	words := []string{"sh", "-c", Quote(text), "sh"}
	for _, a := range args {
		words = append(words, Quote(a))
	}
	return r.Run(ctx, host, strings.Join(words, " "), input)
}

// Program returns a command that is killed when ctx ends, together with all its child processes. Otherwise a child
// that keeps our pipe open would make the caller wait. An example is a child that writes to a pipe of a user which no
// process reads.
func Program(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	return c
}

// Quote quotes a word for a shell.
func Quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// AsUser is the beginning of a script that continues as the user whose name is the script's first argument.
const AsUser = `PATH=$PATH:/usr/lib/oar/oardodo:/usr/local/lib/oar/oardodo; export PATH; OARDO_BECOME_USER=$1; export OARDO_BECOME_USER; shift; `
