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

// work is what runs on this host between an application's start and its end.
type work struct {
	stop func() // asks it to end, and then makes it; returns when it has
}

// stopPatience is how long it may take to end when it is asked to.
const stopPatience = 10 * time.Second

// begin starts it. Its end is an event, its status the application's.
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
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ^C is the launcher's to understand
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
		if !asked { // else it is not the application that is over
			d.tell(Worked{Code: statusOf(err, d.Err)})
		}
	}()
}

// rest lets the time of an experiment's application go by.
func (d *driver) rest(a Work) {
	span := time.Duration(float64(d.Lasts(a.Parts)) / d.pace * float64(time.Second))
	timer := time.AfterFunc(span, func() { d.tell(Worked{}) })
	d.work = &work{stop: func() { timer.Stop() }}
}

// statusOf is the exit status of a program that has ended, as shells have it.
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
