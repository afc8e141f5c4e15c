package shim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"accordion/core/hostlist"
	"accordion/shim/allocation"
	"accordion/shim/launcher/link"
	"accordion/shim/wire/launcher"
)

// StatusAborted is the exit status of Part if the application does not start (EX_TEMPFAIL). The user's code must not run in that case.
const StatusAborted = 75

// The variables of a part of an application.
const (
	variableApplication = "ACCORDION_APPLICATION" // number of the application
	variablePart        = "ACCORDION_PART"        // the cluster of this part
	variableParts       = "ACCORDION_PARTS"       // file with a line CLUSTER HOST for each host of all parts
)

// PartOptions are the options of Part and PartDone.
type PartOptions struct {
	Getenv  Getenv // os.LookupEnv
	Program string // path of this program, which the shell runs when the script ends
}

// How long a part waits. docs/launch.md documents these values.
const (
	partOutage  = 2 * time.Minute  // how long to try to reach a sidecar that was lost
	doneTimeout = 30 * time.Second // how long to try to report the end of the part, so that the job's end is not delayed
)

// Part reports that a job which is a part of an application runs, and waits until all parts run. Like Step, it returns no error; its text
// has the status. After StatusResized (0) the job continues.
func Part(ctx context.Context, o PartOptions) Outcome {
	return part(ctx, o, Dialer(o.Getenv))
}

type dial = func(context.Context) (net.Conn, error)

func part(ctx context.Context, o PartOptions, d dial) Outcome {
	j, err := findJob(o.Getenv)
	if err != nil {
		return Usage(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var text script
	app := int64(0)
	cluster := ""
	for e := range j.link(ctx, d).Events() {
		switch m := e.Message.(type) {
		case *launcher.Welcome:
			app, cluster = m.App, m.Cluster
			e.Session.Send(&launcher.Ready{Job: j.id}) // if this fails, the link reconnects and another welcome comes
		case *launcher.Go:
			return j.started(o, app, cluster, m)
		case *launcher.Abort:
			return j.outcome(StatusAborted, &text, []string{abortMessage(m)})
		case *launcher.Refuse:
			return j.outcome(StatusAborted, &text, []string{reason("refused", m.Text)})
		case *launcher.End:
			return j.outcome(StatusAborted, &text, []string{(&link.EndedError{End: *m}).Error()})
		case nil:
			if e.Over {
				return j.outcome(linkStatus(e.Err), &text, []string{e.Err.Error()})
			}
		}
	}
	return j.outcome(StatusAborted, &text, []string{"interrupted"})
}

// link opens a session of this part, on the cluster of the sidecar that the job asks.
func (j job) link(ctx context.Context, d dial) *link.Link {
	return link.Open(ctx, link.Options{
		Dial: d, Patience: defaultTimeouts.first, Outage: partOutage,
		Hello: launcher.Hello{Part: &launcher.Part{Job: j.id}},
	})
}

func abortMessage(m *launcher.Abort) string {
	what := "not all parts of the application came up"
	if m.Again {
		what += ", which goes on waiting with another job"
	}
	return reason(what, m.Why)
}

// linkStatus returns the exit status for a link that has ended with an error.
func linkStatus(err error) int {
	var refused *link.RefusedError
	var ended *link.EndedError
	if errors.As(err, &refused) || errors.As(err, &ended) || errors.Is(err, context.Canceled) {
		return StatusAborted
	}
	return StatusNoSidecar
}

// started returns the outcome that describes the hosts of all parts of the application.
func (j job) started(o PartOptions, app int64, cluster string, g *launcher.Go) Outcome {
	var text script
	var all []string
	own := j.system.described(j.env)
	hosts := 0
	for i, p := range g.Hosts {
		name := strconv.Itoa(p.C)
		if i < len(g.Names) {
			name = g.Names[i]
		}
		if cluster == "" && (len(g.Hosts) == 1 || sameSet(own, sorted(p.Hosts))) { // the sidecar has not sent this part's cluster, so it is found by its hosts
			cluster = name
		}
		hosts += len(p.Hosts)
		for _, h := range p.Hosts {
			all = append(all, name+" "+h)
		}
	}
	messages := []string{fmt.Sprintf("application %d begins: %d hosts in %d parts, this one on %s", app, hosts, len(g.Hosts), cluster)}
	text.export(variableApplication, strconv.FormatInt(app, 10))
	text.export(variablePart, cluster)
	path, err := allocation.WriteList(j.env.get("TMPDIR"), fmt.Sprintf("%d-*.parts", j.id), "", all)
	if err == nil {
		text.export(variableParts, path)
		text.atEnd(quote(o.Program)+" part --done $?", path+".traps")
	} else {
		text.unset(variableParts)
		messages = append(messages, fmt.Sprintf("no %s, and the end of this part will not be reported: %v", variableParts, err))
	}
	return j.outcome(StatusResized, &text, messages)
}

func sorted(hosts []string) []string {
	all := append([]string(nil), hosts...)
	hostlist.Sort(all)
	return all
}

// PartDone reports that the job's part of an application has ended, with its exit status. It waits until the sidecar
// confirms that.
func PartDone(ctx context.Context, o PartOptions, code int) Outcome {
	return partDone(ctx, o, code, Dialer(o.Getenv))
}

func partDone(ctx context.Context, o PartOptions, code int, d dial) Outcome {
	j, err := findJob(o.Getenv)
	if err != nil {
		return Usage(err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, doneTimeout, fmt.Errorf("the sidecar did not confirm the end of this part within %v", doneTimeout))
	defer cancel()
	var text script
	for e := range j.link(ctx, d).Events() {
		switch m := e.Message.(type) {
		case *launcher.Welcome:
			e.Session.Send(&launcher.Done{Code: code})
		case *launcher.Okay:
			return j.outcome(StatusResized, &text, []string{fmt.Sprintf("this part has ended, with status %d", code)})
		case *launcher.Refuse:
			return j.outcome(StatusRefused, &text, []string{reason("refused", m.Text)})
		case *launcher.End:
			return j.outcome(StatusRefused, &text, []string{(&link.EndedError{End: *m}).Error()})
		case nil:
			if e.Over {
				return j.outcome(linkStatus(e.Err), &text, []string{e.Err.Error()})
			}
		}
	}
	return j.outcome(StatusNoSidecar, &text, []string{context.Cause(ctx).Error()})
}
