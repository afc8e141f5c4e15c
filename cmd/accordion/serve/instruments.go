package serve

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter/actions"
	"accordion/adapter/config"
	"accordion/adapter/journal"
	"accordion/adapter/metrics"
	"accordion/adapter/status"
	"accordion/adapter/web"
	"accordion/cmd/accordion/cluster"
	"accordion/core"
)

// instruments are the configured parts of the sidecar with which a site monitors it.
type instruments struct {
	meter      actions.Meter     // nil if nothing is counted
	subscriber status.Subscriber // nil if there is no page
	parts      []func(context.Context) error
	ends       []func() error
}

// partOf returns the application that a job is a part of, or nil if the job is no part of an application.
type partOf func(job core.JobID, request string) (*status.ApplicationExplanation, error)

// openInstruments opens the configured instruments. Unless `applications` is nil, its metrics and the size of its journal are served too.
// An instrument that fails later does not stop the sidecar.
func openInstruments(conf config.Config, j *journal.Journal, applications *metrics.Applications, delegated *config.Delegate, part partOf, log hclog.Logger) (*instruments, error) {
	w := &instruments{}
	if address := conf.Metrics.Listen; address != "" {
		listener, err := metrics.Listen(address)
		if err != nil {
			return nil, err
		}
		m := metrics.New(cluster.ClockOf(conf).Now)
		m.WatchJournal("sidecar", j.WALBytes)
		if applications != nil {
			m.Serves(applications)
			m.WatchJournal("applications", func() int64 { return journal.WALBytes(delegated.Journal) })
		}
		w.meter = m
		w.ends = append(w.ends, listener.Close)
		w.parts = append(w.parts, func(ctx context.Context) error {
			if err := m.Serve(ctx, listener); err != nil {
				log.Error("metrics server failed", "error", err)
				<-ctx.Done()
			}
			return nil
		})
		log.Info("metrics are served", "address", "http://"+listener.Addr().String()+"/metrics")
	}
	if err := w.openWeb(conf, j, part, log); err != nil {
		return nil, errors.Join(err, w.close())
	}
	if path := conf.Log.Events; path != "" {
		lines, err := j.KeepLines(path)
		if err != nil {
			return nil, errors.Join(err, w.close())
		}
		w.ends = append(w.ends, lines.Close)
		w.parts = append(w.parts, func(ctx context.Context) error {
			return lines.Run(ctx, time.Second, func(err error) {
				if err != nil {
					log.Error("write events failed; retrying", "error", err)
				} else {
					log.Info("writing events works again", "file", path)
				}
			})
		})
	}
	return w, nil
}

// openWeb opens the page if it is configured.
func (w *instruments) openWeb(conf config.Config, j *journal.Journal, part partOf, log hclog.Logger) error {
	if conf.Web.Listen == "" {
		return nil
	}
	listener, err := web.Listen(conf.Web.Listen)
	if err != nil {
		return err
	}
	options := web.Options{Journal: j, Application: part, Clock: cluster.ClockOf(conf).Now, Pace: conf.Pace(), Private: conf.Web.Private, Any: filepath.IsAbs(conf.Web.Listen), PID: os.Getpid()}
	if conf.Web.Names != "" {
		options.Names = strings.Split(conf.Web.Names, ",")
	}
	server := web.New(options)
	w.subscriber = server
	w.ends = append(w.ends, listener.Close)
	w.parts = append(w.parts, func(ctx context.Context) error {
		if err := server.Serve(ctx, listener); err != nil {
			log.Error("page server failed", "error", err)
			<-ctx.Done()
		}
		return nil
	})
	log.Info("the page is served", "address", listener.Addr().String(), "private", conf.Web.Private)
	return nil
}

// close closes everything.
func (w *instruments) close() error {
	var errs []error
	for _, end := range w.ends {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}
