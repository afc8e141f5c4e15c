package metrics

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"accordion/adapter"
)

// states lists the states of applications, as launchers see them. A state is exported even if no application is in it.
var states = []string{"submitted", "request sent", "waiting", "started", "being ended", "ghost"}

// Applications has the metrics of the loop of applications and of launchers' sessions. It implements
// the interfaces loop.Meter and server.Meter of adapter/delegated. A process has one Applications for
// all its clusters, and the Metrics of one cluster serve it (Metrics.Serves).
type Applications struct {
	pass     prometheus.Histogram
	messages *prometheus.CounterVec
	bytes    *prometheus.CounterVec
	states   *prometheus.GaugeVec
	failures *prometheus.CounterVec
}

// NewApplications returns metrics in which all counts are 0. For the given clusters, the counts are exported from the start.
func NewApplications(clusters ...string) *Applications {
	a := &Applications{
		pass: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "accordion_pass_seconds",
			Help:    "How long one pass over the requests of all applications takes.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 13), // up to 2 s; the goal is that the last launcher has its view after 50 ms
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

// FailedPreparation counts a try to start an application that a cluster refused.
func (a *Applications) FailedPreparation(cluster, why string) {
	a.failures.WithLabelValues(cluster, reasonIn(why)).Inc()
}

// Frame counts a frame from (direction "in") or to ("out") a launcher or a part.
func (a *Applications) Frame(direction, typ string, bytes int) {
	if typ == "" {
		typ = "none"
	}
	a.messages.WithLabelValues(typ, direction).Inc()
	a.bytes.WithLabelValues(typ, direction).Add(float64(bytes))
}

// refusals maps texts to labels, because a metric must have few label values. A refusal gets the label of the first entry whose text the
// refusal contains.
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

// reasonsOfRefusal returns all possible results of reasonIn. It may contain a label twice.
func reasonsOfRefusal() []string {
	all := []string{"other"}
	for _, r := range refusals {
		all = append(all, r.reason)
	}
	return all
}

// reasonIn returns the label for the reason why a cluster refused.
func reasonIn(why string) string {
	for _, r := range refusals {
		if strings.Contains(why, r.text) {
			return r.reason
		}
	}
	return "other"
}

// Serves makes m also serve the metrics of applications.
func (m *Metrics) Serves(a *Applications) {
	m.registry.MustRegister(a.pass, a.messages, a.bytes, a.states, a.failures)
}
