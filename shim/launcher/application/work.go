package application

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"accordion/shim/allocation"
)

// work is the command that runs on this host between an application's start and its end.
type work struct {
	stop func() // sends TERM to the command, later KILL; returns when it has ended
}

// stopPatience is how long the command may take to end before it is killed.
const stopPatience = 10 * time.Second

// begin starts the command. When the command ends, an event is sent, and the command's exit status becomes the
// application's.
func (d *driver) begin(a Work) {
	if d.Lasts != nil {
		d.rest(a)
		return
	}
	var all []string
	for _, h := range a.Hosts {
		all = append(all, h.Cluster+" "+h.Name)
	}
	environ := append(d.Environ, "ACCORDION_APPLICATION="+strconv.FormatInt(a.Application, 10))
	path, err := allocation.WriteList(variable(d.Environ, "TMPDIR"), fmt.Sprintf("%d-*.parts", a.Application), "", all)
	if err != nil {
		say(d.Err, "no ACCORDION_PARTS: "+err.Error())
	} else {
		environ = append(environ, "ACCORDION_PARTS="+path)
	}
	c := exec.Command(d.Work[0], d.Work[1:]...)
	c.Env, c.Stdout, c.Stderr = environ, d.Out, d.Err
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that a terminal's ^C reaches only the launcher
	c.WaitDelay = stopPatience
	if err := c.Start(); err != nil {
		say(d.Err, err.Error())
		go d.tell(Worked{Code: 127})
		return
	}
	ended := make(chan struct{})
	var stopped bool
	var mu sync.Mutex
	d.work = &work{stop: sync.OnceFunc(func() {
		mu.Lock()
		stopped = true
		mu.Unlock()
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			syscall.Kill(-c.Process.Pid, signal)
			select {
			case <-ended:
				return
			case <-time.After(stopPatience):
			}
		}
	})}
	go func() {
		err := c.Wait()
		close(ended)
		mu.Lock()
		asked := stopped
		mu.Unlock()
		if !asked { // if the launcher itself stopped the command, the application has not ended
			d.tell(Worked{Code: statusOf(err, d.Err)})
		}
	}()
}

// rest waits, in place of a command, for an application of an experiment.
func (d *driver) rest(a Work) {
	span := time.Duration(float64(d.Lasts(a.Parts)) / d.pace * float64(time.Second))
	timer := time.AfterFunc(span, func() { d.tell(Worked{}) })
	d.work = &work{stop: func() { timer.Stop() }}
}

// statusOf returns the exit status of an ended program, in the form of shells.
func statusOf(err error, stderr io.Writer) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if s := exit.Sys().(syscall.WaitStatus); s.Signaled() {
			return 128 + int(s.Signal())
		}
		return exit.ExitCode()
	}
	say(stderr, err.Error())
	return 1
}

func variable(environ []string, name string) string {
	value := ""
	for _, e := range environ {
		if v, named := strings.CutPrefix(e, name+"="); named {
			value = v
		}
	}
	return value
}
