// Package metrics counts what the sidecar does, for Prometheus. Only this package depends on
// Prometheus. A cluster's loop uses it through the interfaces actions.Meter and
// status.PromiseMeter, and the loop of applications through loop.Meter and server.Meter. Counts
// start from 0 when the process starts; earlier events are in the journal.
//
//	m := metrics.New(time.Now)
//	loop := sidecar.New(sidecar.Options{Meter: m, …})
//	listener, err := metrics.Listen("127.0.0.1:9820")
//	err = m.Serve(ctx, listener) // http://127.0.0.1:9820/metrics until ctx ends
package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/connlimit"
	"accordion/adapter/managed"
	"accordion/core"
)

// phases lists all phases of a managed job (view.Job). A phase is exported even if no job is in it.
var phases = []string{"waiting", "starting", "running", "growing", "shrinking", "late", "ending"}

// Label values for which a count of 0 is exported from the start. Otherwise Prometheus' function
// rate() would miss the first event with such a value.
var (
	causes = []managed.Obstacle{managed.LateShrinker, managed.OrdinaryOverrun, managed.BatchSystem, managed.SiteLimit, managed.BootingNode,
		managed.LateApplication, managed.Standstill, managed.Outaged, managed.Turn}
	reasons = []string{"busy", "gone", "limit", "trap", "frozen", "timeout", "other"}
)

// Metrics is an actions.Meter that Prometheus can read.
type Metrics struct {
	registry *prometheus.Registry
	now      func() time.Time
	read     atomic.Int64 // Unix nanoseconds at which the newest reading began; 0 if there was none yet

	cycle    prometheus.Histogram
	call     *prometheus.HistogramVec
	failures *prometheus.CounterVec
	lateness *prometheus.HistogramVec
	broken   *prometheus.CounterVec
	spared   prometheus.Counter
	unused   prometheus.Counter
	over     prometheus.Gauge
	limited  *prometheus.CounterVec
	jobs     *prometheus.GaugeVec
	waiting  prometheus.Gauge
}

var _ actions.Meter = (*Metrics)(nil)

// New returns metrics with all counts 0. now is the sidecar's clock.
func New(now func() time.Time) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), now: now}
	m.cycle = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "accordion_cycle_seconds",
		Help:    "How long one look, plan and act of the sidecar takes, without the batch system's own answers.",
		Buckets: prometheus.ExponentialBuckets(0.001, 2, 12), // up to 2 s; the goal is 0.25 s, and a cycle must never take 1 s
	})
	m.call = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "accordion_call_seconds",
		Help:    "How long calls of the batch system take, by verb.",
		Buckets: prometheus.ExponentialBuckets(0.005, 2, 12), // up to 10 s, the default deadline
	}, []string{"verb"})
	m.failures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "accordion_call_failures_total",
		Help: "Calls of the batch system that failed, by verb and reason (busy, gone, limit, trap, frozen, timeout, other).",
	}, []string{"verb", "reason"})
	m.lateness = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "accordion_growth_lateness_seconds",
		Help: "How long after its planned second a growth's nodes are usable in the job, by what it waited for.",
		// There are more buckets near the goals for growths, which are a median of 1 s and a 95th percentile of 2 s.
		Buckets: []float64{0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30, 60, 120, 300, 900, 3600},
	}, []string{"cause"})
	m.broken = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "accordion_promises_broken_total",
		Help: "Promises to running jobs that could not be kept, by cause.",
	}, []string{"cause"})
	m.spared = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "accordion_waste_avoided_node_seconds_total",
		Help: "Node-seconds that evolving jobs did not hold and rigid jobs of their peak size would have held.",
	})
	m.unused = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "accordion_unused_node_seconds_total",
		Help: "Node-seconds that were reserved ahead for later steps of jobs that ended before those steps.",
	})
	m.over = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "accordion_unused_limited_users",
		Help: "Users over [limits] unused: no nodes are reserved ahead for later steps of their jobs.",
	})
	m.limited = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "accordion_limited_total",
		Help: "How often jobs met a limit of Accordion's, by the limit (docs/security.md).",
	}, []string{"limit"})
	m.jobs = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accordion_jobs",
		Help: "Managed jobs by phase.",
	}, []string{"phase"})
	m.waiting = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "accordion_queue_jobs",
		Help: "Jobs that wait in the planned queue, ordinary ones included.",
	})
	age := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "accordion_reading_age_seconds",
		Help: "How old the newest reading of the batch system is; -1 before the first.",
	}, m.age)
	m.registry.MustRegister(m.cycle, m.call, m.failures, m.lateness, m.broken, m.spared, m.limited, m.unused, m.over, m.jobs, m.waiting, age,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, phase := range phases {
		m.jobs.WithLabelValues(phase)
	}
	for _, cause := range causes {
		m.lateness.WithLabelValues(string(cause))
		m.broken.WithLabelValues(string(cause))
	}
	m.lateness.WithLabelValues("none")
	m.broken.WithLabelValues(string(managed.LostNode))
	for _, limit := range actions.Limits {
		m.limited.WithLabelValues(limit)
	}
	m.knows("observe")
	return m
}

// WatchJournal exports the size of a journal's write-ahead log. The parameter `journal` is "sidecar"
// or "applications", and the function `bytes` returns the size.
func (m *Metrics) WatchJournal(journal string, bytes func() int64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "accordion_journal_wal_bytes",
		Help:        "Size of the journal's write-ahead log, which is moved into the journal again and again.",
		ConstLabels: prometheus.Labels{"journal": journal},
	}, func() float64 { return float64(bytes()) }))
}

func (m *Metrics) age() float64 {
	read := m.read.Load()
	if read == 0 {
		return -1
	}
	return m.now().Sub(time.Unix(0, read)).Seconds()
}

// Cycle implements actions.Meter.
func (m *Metrics) Cycle(took time.Duration, read time.Time, jobs map[string]int, waiting int) {
	m.cycle.Observe(took.Seconds())
	m.read.Store(read.UnixNano())
	for _, phase := range phases {
		m.jobs.WithLabelValues(phase).Set(float64(jobs[phase]))
	}
	m.waiting.Set(float64(waiting))
}

// knows makes the failures of a verb exported, even while there are none.
func (m *Metrics) knows(verb string) {
	for _, reason := range reasons {
		m.failures.WithLabelValues(verb, reason)
	}
}

// Call implements actions.Meter.
func (m *Metrics) Call(verb string, took time.Duration, err error) {
	m.knows(verb)
	m.call.WithLabelValues(verb).Observe(took.Seconds())
	if err != nil {
		m.failures.WithLabelValues(verb, reason(err)).Inc()
	}
}

// reason returns the label for the reason why a call failed. A metric must have few label values.
func reason(err error) string {
	switch {
	case errors.Is(err, adapter.ErrBusy):
		return "busy"
	case errors.Is(err, adapter.ErrGone):
		return "gone"
	case errors.Is(err, adapter.ErrLimit):
		return "limit"
	case errors.Is(err, adapter.ErrTrap):
		return "trap"
	case errors.Is(err, adapter.ErrFrozen):
		return "frozen"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "other"
}

// Grew implements actions.Meter.
func (m *Metrics) Grew(late time.Duration, cause string) {
	if cause == "" {
		cause = "none"
	}
	m.lateness.WithLabelValues(cause).Observe(late.Seconds())
}

// Broke implements actions.Meter.
func (m *Metrics) Broke(cause string) { m.broken.WithLabelValues(cause).Inc() }

// Spared implements actions.Meter.
func (m *Metrics) Spared(nodeSeconds int64) {
	if nodeSeconds > 0 { // a counter must not decrease
		m.spared.Add(float64(nodeSeconds))
	}
}

// Unused implements actions.Meter.
func (m *Metrics) Unused(nodeSeconds core.Time, over int) {
	m.unused.Add(float64(max(nodeSeconds, 0)))
	m.over.Set(float64(over))
}

// Limited implements actions.Meter.
func (m *Metrics) Limited(limit string) { m.limited.WithLabelValues(limit).Inc() }

// Handler answers GET /metrics in Prometheus' text format, and all other requests with 404.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: 4, Timeout: 10 * time.Second,
	}))
	return mux
}

// connections limits the open connections. If there are too many, a new connection replaces an older
// one. That does no harm, because a site has only a few scrapers, and they connect again.
var connections = connlimit.Limits{Total: 64, PerClient: 16, Replace: true}

// Listen listens at the address HOST:PORT.
func Listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for metrics: %w; give another address in [metrics] listen, or none", err)
	}
	return connlimit.Listen(l, connections), nil
}

// Serve answers requests on the listener until ctx ends. Then it closes the listener and returns nil.
func (m *Metrics) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: m.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 20 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve metrics on %s: %w", l.Addr(), err)
	}
	return nil
}
