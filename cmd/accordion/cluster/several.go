package cluster

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
	"accordion/cmd/accordion/command"
)

// patience is how long a cluster that cannot be served is left alone before it is tried again.
const patience = 10 * time.Second

// roll is the clusters that one process serves, by name.
type roll struct {
	pause func() <-chan time.Time // before a cluster is tried again

	mu     sync.Mutex
	called map[string]*post
}

// enter notes what a cluster is called, which its log says from now on: two of one name could not be told apart. A nil roll has
// one cluster only.
func (r *roll) enter(p *post, name string) error {
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

// posts are where the clusters of a list are served from.
func posts(all []config.Member, insist insistence, w io.Writer) []*post {
	among := &roll{pause: func() <-chan time.Time { return time.After(patience) }, called: map[string]*post{}}
	var lock sync.Mutex
	posts := make([]*post, len(all))
	for i := range all {
		m := &all[i]
		posts[i] = &post{conf: m.Config, insist: insist, connect: connect, among: among,
			log: newLogger(m.Config.Log, w, &lock).Named(cmp.Or(m.Config.Cluster, m.File))}
		if name := m.Config.Cluster; name != "" {
			among.called[name] = posts[i]
		}
	}
	return posts
}

// attempt is how beginning to serve a cluster ended.
type attempt struct {
	ready *prepared
	err   error
}

// serveAll runs a sidecar for each cluster until ctx ends. None is begun when one of them cannot be served for another reason than
// that its batch system does not answer.
func serveAll(ctx context.Context, conf config.Clusters, posts []*post) error {
	o, err := openOffice(ctx, conf.Delegate, posts, posts[0].log.ResetNamed("accordion.launchers"))
	if err != nil {
		return err
	}
	defer o.leave()
	service := underSystemd(posts[0].log.ResetNamed("accordion"))
	for _, p := range posts {
		p.service = service
	}
	begun := make([]attempt, len(posts))
	atOnce(len(posts), func(i int) { begun[i].ready, begun[i].err = posts[i].begin(ctx) })
	defer func() {
		for _, p := range posts {
			p.leave()
		}
	}()
	if err := refusals(posts, begun); err != nil {
		for _, a := range begun {
			if a.ready != nil {
				a.ready.close()
			}
		}
		return err
	}
	thrifty()
	return together(ctx, func(ctx context.Context) error {
		errs := make([]error, len(posts))
		atOnce(len(posts), func(i int) { errs[i] = posts[i].keep(ctx, begun[i]) })
		return errors.Join(errs...)
	}, func(ctx context.Context) error { return o.run(ctx, conf, posts) }, posts[0].service.run)
}

// atOnce does something n times at once, and returns when all is done.
func atOnce(n int, do func(i int)) {
	var doing sync.WaitGroup
	for i := range n {
		doing.Go(func() { do(i) })
	}
	doing.Wait()
}

// refusals is why serving does not begin, in one line; nil when it does.
func refusals(posts []*post, begun []attempt) error {
	status, texts := 0, []string(nil)
	for i, a := range begun {
		if silent := (*adapter.NoAnswer)(nil); a.err == nil || errors.As(a.err, &silent) {
			continue
		}
		coded := command.ExitError{Status: 1, Err: a.err}
		errors.As(a.err, &coded)
		status = max(status, coded.Status)
		texts = append(texts, fmt.Sprintf("cluster %s: %v", posts[i].name(), coded.Err))
	}
	if status == 0 {
		return nil
	}
	return command.ExitError{Status: status, Err: errors.New(strings.Join(texts, "; "))}
}

// name is what the cluster is called, as far as it is known.
func (p *post) name() string { return strings.TrimPrefix(p.log.Name(), "accordion.") }

// keep serves the cluster until ctx ends. Whenever that fails it is begun again after a pause, as a service would be that is a process
// of its own. The error is how it ended.
func (p *post) keep(ctx context.Context, a attempt) error {
	said := ""
	for {
		if a.ready != nil {
			said, a.err = "", p.stand(ctx, a.ready)
		}
		if ctx.Err() != nil {
			break
		}
		if text := fmt.Sprint(a.err); text != said {
			p.lament(a.err)
			said = text
		}
		select {
		case <-ctx.Done():
			return nil
		case <-p.among.pause():
		}
		a.ready, a.err = p.begin(ctx)
	}
	if a.ready == nil || a.err == nil { // what did not begin has nothing to end
		return nil
	}
	return fmt.Errorf("cluster %s: %w", p.name(), a.err)
}

// stand serves once. What has failed is opened anew the next time, and takes no lease from others.
func (p *post) stand(ctx context.Context, s *prepared) error {
	err := s.run(ctx)
	s.close()
	p.insist.takeOver = false
	if err != nil {
		p.leave()
	}
	return err
}

// lament logs why the cluster is not served.
func (p *post) lament(err error) {
	silent := (*adapter.NoAnswer)(nil)
	switch {
	case errors.Is(err, errUnfit) && errors.As(err, &silent): // preflight has said it
		p.log.Error("the batch system does not answer: it is tried again every 10 s")
	case errors.As(err, &silent):
		p.log.Error("the batch system does not answer: it is tried again every 10 s", "error", err)
	default:
		p.log.Error("the cluster is not served: it is tried again every 10 s", "error", err)
	}
}
