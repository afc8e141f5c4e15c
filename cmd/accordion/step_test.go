package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"accordion/adapter/session"
	"accordion/core/hostlist"
	"accordion/shim/allocation"
	"accordion/shim/seal"
	"accordion/shim/wire"
)

func init() {
	programs["fake-sidecar"] = func() {
		if err := fakeSidecar(); err != nil {
			fmt.Fprintln(os.Stderr, "fake-sidecar:", err)
			os.Exit(1)
		}
	}
}

// describe adds the nodes of a step to a reply. `step` is a host list or a list of allocations.
func describe(reply *wire.Reply, step string) error {
	if !strings.Contains(step, ":") {
		names, err := hostlist.Expand(step)
		reply.Nodes, reply.Count = strings.TrimSpace(step), len(names)
		return err
	}
	list, err := allocation.Parse(step)
	for _, a := range list {
		reply.Allocations = append(reply.Allocations, wire.Allocation{Job: a.Job, Nodes: hostlist.Compact(a.Nodes)})
	}
	reply.Nodes, reply.Count = hostlist.Compact(list.Nodes()), len(list.Nodes())
	return err
}

// fakeSidecar serves the real session server on a socket, and starts each step of one job without delay. The arguments are the nodes of
// each step, or the step's allocations if the job has companions. With -die it exits, as if by kill -9, as soon as it has resized and
// before it answers.
func fakeSidecar() error {
	socket := flag.String("socket", "", "")
	job := flag.Int64("job", 7, "")
	begun := flag.Int("step", 1, "the step that the job is in")
	late := flag.Bool("late", false, "never resize: answer late when the shim's patience ends")
	die := flag.Bool("die", false, "")
	address := flag.String("listen", "", "HOST:PORT for shims on other hosts")
	munge := flag.String("munge", "", "socket of munged")
	owner := flag.Int("owner", os.Getuid(), "the user whose job it is; root speaks for it, too")
	flag.Parse()
	steps := flag.Args()

	server, err := session.Listen(session.Options{Path: *socket, Address: *address, Authority: seal.NewMunge(*munge)})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	for {
		select {
		case err := <-ended:
			return err
		case call := <-server.Calls():
			reply := wire.Reply{Status: wire.Resized}
			switch q := call.Request; {
			case q.Job != *job:
				call.Answer(wire.Reply{Status: wire.Refused, Why: fmt.Sprintf("job %d is not managed", q.Job)})
				continue
			case call.UID != 0 && int(call.UID) != *owner:
				call.Answer(wire.Reply{Status: wire.Refused, Why: fmt.Sprintf("job %d is not yours", q.Job)})
				continue
			case *late:
				if q.Waits == 0 {
					return errors.New("the shim says no timeout")
				}
				reply.Status = wire.Late
			case q.Step < *begun: // this is a repeated request, whose resize is done
			case *begun == len(steps):
				reply.Status = wire.Over
			default:
				*begun++
				if q.Keep != "" {
					steps[*begun-1] = q.Keep
				}
			}
			if *die {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			if err := describe(&reply, steps[*begun-1]); err != nil {
				return err
			}
			reply.Step, reply.Steps, reply.Generation = *begun, len(steps), *begun-1
			reply.Until = 1800000000
			call.Answer(reply)
		}
	}
}
