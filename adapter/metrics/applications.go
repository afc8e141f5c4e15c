package metrics

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"accordion/adapter"
)

// states are all states of an application, as launchers see them. A state without applications is exported as 0.
var states = []string{"submitted", "request sent", "waiting", "started", "being ended", "ghost"}

// Applications counts what the loop of applications and the sessions of launchers do: it implements
// the Meters of adapter/delegated/loop and adapter/delegated/server. There is one Applications for
// all clusters of a process. The Metrics of one cluster serve it (Serves).
type Applications struct {
	pass     prometheus.Histogram
	messages *prometheus.CounterVec
	bytes    *prometheus.CounterVec
	states   *prometheus.GaugeVec
	failures *prometheus.CounterVec
}

// NewApplications returns metrics with all counts 0. clusters are the names that are already known.
func NewApplications(clusters ...string) *Applications {
	a := &Applications{
		pass: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "accordion_pass_seconds",
			Help:    "How long one pass over the requests of all applications takes.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 13), // up to 2 s; a pass must take at most 50 ms until the last launcher has its view
		}),
		messages: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "accordion_launcher_messages_total",
			Help: "Messages of launchers and parts (in) and to them (out), by type.",
		}, []string{"type", "direction"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "accordion_launcher_message_bytes_total",
			Help: "Bytes of these messages with their lengths, without what proves them.",
		}, []string{"type", "direction"}),
		states: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "accordion_applications",
			Help: "Applications by state.",
		}, []string{"state"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "accordion_failed_preparations_total",
			Help: "Tries to start an application that a cluster refused, by cluster and reason (busy, limit, frozen, gone, timeout, other).",
		}, []string{"cluster", "reason"}),
	}
	a.Applications(nil)
	for _, cluster := range clusters {
		for _, reason := range reasonsOfRefusal() {
			a.failures.WithLabelValues(cluster, reason)
		}
	}
	return a
}

// Passed records how long a pass took.
func (a *Applications) Passed(took time.Duration) { a.pass.Observe(took.Seconds()) }

// Applications sets the number of applications in each state.
func (a *Applications) Applications(byState map[string]int) {
	for _, state := range states {
		a.states.WithLabelValues(state).Set(float64(byState[state]))
	}
}

// FailedPreparation counts a try that a cluster refused.
func (a *Applications) FailedPreparation(cluster, why string) {
	a.failures.WithLabelValues(cluster, reasonIn(why)).Inc()
}

// Frame counts a frame of a launcher, "in" or "out".
func (a *Applications) Frame(direction, typ string, bytes int) {
	if typ == "" {
		typ = "none"
	}
	a.messages.WithLabelValues(typ, direction).Inc()
	a.bytes.WithLabelValues(typ, direction).Add(float64(bytes))
}

// refusals maps a part of a refusal's text to a label, because labels must be few. The first entry
// that matches is used.
var refusals = []struct{ text, reason string }{
	{adapter.ErrBusy.Error(), "busy"},
	{adapter.ErrLimit.Error(), "limit"},
	{adapter.ErrFrozen.Error(), "frozen"},
	{adapter.ErrGone.Error(), "gone"},
	{"its job ended", "gone"},
	{"not prepared within", "timeout"},
	{"not up within", "timeout"},
	{context.DeadlineExceeded.Error(), "timeout"},
}

// reasonsOfRefusal returns all possible results of reasonIn, some of them twice.
func reasonsOfRefusal() []string {
	all := []string{"other"}
	for _, r := range refusals {
		all = append(all, r.reason)
	}
	return all
}

// reasonIn returns a label for why a cluster refused.
func reasonIn(why string) string {
	for _, r := range refusals {
		if strings.Contains(why, r.text) {
			return r.reason
		}
	}
	return "other"
}

// Serves adds the metrics of applications to those that m serves.
func (m *Metrics) Serves(a *Applications) {
	m.registry.MustRegister(a.pass, a.messages, a.bytes, a.states, a.failures)
}
