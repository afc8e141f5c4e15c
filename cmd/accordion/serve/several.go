package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"accordion/adapter"
	"accordion/adapter/config"
	"accordion/adapter/systemd"
	"accordion/cmd/accordion/cluster"
	"accordion/cmd/accordion/command"
)

// patience is the time after which a cluster that cannot be served is tried again.
const patience = 10 * time.Second

// clusterSet has the clusters that one process serves, by name.
type clusterSet struct {
	pause func() <-chan time.Time // the time until a cluster is tried again

	mu     sync.Mutex
	called map[string]*instance
}

// enter records the name of a cluster and adds the name to the cluster's log. Two clusters with the same name are an error. A nil
// clusterSet stands for a single cluster.
func (r *clusterSet) enter(p *instance, name string) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if other := r.called[name]; other != nil && other != p {
		return fmt.Errorf("the batch system calls this cluster %q, as another one of the list is called: give one of them name = \"…\" in its [[cluster]]", name)
	}
	r.called[name], p.log = p, p.log.ResetNamed("accordion."+name)
	return nil
}

// instancesOf returns the instances of a list of clusters.
func instancesOf(all []config.Member, insist insistence, w io.Writer) []*instance {
	among := &clusterSet{pause: func() <-chan time.Time { return time.After(patience) }, called: map[string]*instance{}}
	var lock sync.Mutex
	instances := make([]*instance, len(all))
	for i := range all {
		m := &all[i]
		instances[i] = &instance{conf: m.Config, insist: insist, connect: cluster.Connect, among: among,
			log: newLogger(m.Config.Log, w, &lock).Named(cmp.Or(m.Config.Cluster, m.File))}
		if name := m.Config.Cluster; name != "" {
			among.called[name] = instances[i]
		}
	}
	return instances
}

// attempt is the result of starting to serve a cluster.
type attempt struct {
	ready *prepared
	err   error
}

// serveAll runs a sidecar for each cluster until ctx ends. If a cluster cannot be served, it starts no sidecar, unless the reason is that
// the cluster's batch system does not answer.
func serveAll(ctx context.Context, conf config.Clusters, instances []*instance) error {
	o, err := launchersOf(ctx, conf, instances, instances[0].log.ResetNamed("accordion.launchers"))
	if err != nil {
		return err
	}
	defer o.leave()
	service := systemd.New(instances[0].log.ResetNamed("accordion"))
	for _, p := range instances {
		p.service = service
	}
	begun := make([]attempt, len(instances))
	atOnce(len(instances), func(i int) { begun[i].ready, begun[i].err = instances[i].begin(ctx) })
	defer func() {
		for _, p := range instances {
			p.leave()
		}
	}()
	if err := refusals(instances, begun); err != nil {
		for _, a := range begun {
			if a.ready != nil {
				a.ready.close()
			}
		}
		return err
	}
	limitHeap()
	return together(ctx, func(ctx context.Context) error {
		errs := make([]error, len(instances))
		atOnce(len(instances), func(i int) { errs[i] = instances[i].serveUntilDone(ctx, begun[i]) })
		return errors.Join(errs...)
	}, func(ctx context.Context) error { return o.run(ctx, conf, instances) }, instances[0].service.Run)
}

// atOnce runs `do` n times in parallel and waits for all.
func atOnce(n int, do func(i int)) {
	var doing sync.WaitGroup
	for i := range n {
		doing.Go(func() { do(i) })
	}
	doing.Wait()
}

// refusals returns, on one line, the reasons why no cluster is served, or nil if serving starts.
func refusals(instances []*instance, begun []attempt) error {
	status, texts := 0, []string(nil)
	for i, a := range begun {
		if silent := (*adapter.NoAnswerError)(nil); a.err == nil || errors.As(a.err, &silent) {
			continue
		}
		coded := command.ExitError{Status: 1, Err: a.err}
		errors.As(a.err, &coded)
		status = max(status, coded.Status)
		texts = append(texts, fmt.Sprintf("cluster %s: %v", instances[i].name(), coded.Err))
	}
	if status == 0 {
		return nil
	}
	return command.ExitError{Status: status, Err: errors.New(strings.Join(texts, "; "))}
}

// name returns the cluster's name, as far as it is known.
func (p *instance) name() string { return strings.TrimPrefix(p.log.Name(), "accordion.") }

// serveUntilDone serves the cluster until ctx ends. After a failure it waits and starts again, as systemd restarts a
// failed process. It returns the last error.
func (p *instance) serveUntilDone(ctx context.Context, a attempt) error {
	said := ""
	for {
		if a.ready != nil {
			said, a.err = "", p.serveOnce(ctx, a.ready)
		}
		if ctx.Err() != nil {
			break
		}
		if text := fmt.Sprint(a.err); text != said {
			p.logFailure(a.err)
			said = text
		}
		select {
		case <-ctx.Done():
			return nil
		case <-p.among.pause():
		}
		a.ready, a.err = p.begin(ctx)
	}
	if a.ready == nil || a.err == nil { // only a sidecar that had started can end with an error
		return nil
	}
	return fmt.Errorf("cluster %s: %w", p.name(), a.err)
}

// serveOnce serves once. After a failure it closes the journal, and the next attempt does not take over another sidecar's
// lease.
func (p *instance) serveOnce(ctx context.Context, s *prepared) error {
	err := s.run(ctx)
	s.close()
	p.insist.takeOver = false
	if err != nil {
		p.leave()
	}
	return err
}

// logFailure logs why the cluster is not served.
func (p *instance) logFailure(err error) {
	silent := (*adapter.NoAnswerError)(nil)
	switch {
	case errors.Is(err, errUnfit) && errors.As(err, &silent): // preflight has logged it
		p.log.Error("the batch system does not answer: it is tried again every 10 s")
	case errors.As(err, &silent):
		p.log.Error("the batch system does not answer: it is tried again every 10 s", "error", err)
	default:
		p.log.Error("the cluster is not served: it is tried again every 10 s", "error", err)
	}
}
