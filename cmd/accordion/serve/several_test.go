package serve

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/config"
	"accordion/cmd/accordion/cluster"
)

// testClusters has several clusters that this process serves together. The test decides what their batch systems
// answer.
type testClusters struct {
	instances []*instance
	tries     chan chan time.Time // one for each cluster that waits to be tried again; closing the inner channel ends its wait
	log       *safe
}

// safe is a log that several goroutines write and a test waits for.
type safe struct {
	mu   sync.Mutex
	all  bytes.Buffer
	news chan struct{}
}

func (s *safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default: // a notification is pending
	}
	return s.all.Write(p)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// answer is how a batch system answers an attempt to serve it. Unless a field is set, it answers like the embedded batch system.
type answer struct {
	connect error
	found   []adapter.Finding
	name    string // "" means the name in the configuration
}

// build returns clusters with these names. A cluster with the name "" gets its name from its batch system. Each attempt to serve a cluster
// takes the cluster's next answer; the last answer repeats.
func build(t *testing.T, names []string, answers map[int][]answer) *testClusters {
	t.Helper()
	folder := t.TempDir()
	h := &testClusters{tries: make(chan chan time.Time), log: &safe{news: make(chan struct{}, 1)}}
	var members []config.Member
	for i, name := range names {
		conf := config.Default()
		conf.System, conf.Embedded.Nodes, conf.Cluster = config.SystemEmbedded, 4, name
		own := filepath.Join(folder, string(rune('a'+i)))
		conf.Journal.Path, conf.Session.Socket = filepath.Join(own, "j.db"), filepath.Join(own, "sock")
		members = append(members, config.Member{Config: conf, File: own + ".toml"})
	}
	h.instances = instancesOf(members, insistence{}, h.log)
	for i, p := range h.instances {
		p.among.pause = func() <-chan time.Time {
			again := make(chan time.Time)
			h.tries <- again
			return again
		}
		left := answers[i]
		p.connect = func(ctx context.Context, conf config.Config, log hclog.Logger) (*cluster.Cluster, error) {
			var now answer
			if len(left) > 0 {
				now = left[0]
			}
			if len(left) > 1 {
				left = left[1:]
			}
			if now.connect != nil {
				return nil, now.connect
			}
			c, err := cluster.Connect(ctx, conf, log)
			if err == nil {
				c.Preflight = func(context.Context) []adapter.Finding { return now.found }
				if now.name != "" {
					c.Name = func(context.Context) (string, error) { return now.name, nil }
				}
			}
			return c, err
		}
	}
	return h
}

// open serves the clusters until the test ends or the returned function is called. That function returns the error of serving.
func (h *testClusters) open(t *testing.T) (end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- serveAll(ctx, config.Clusters{}, h.instances) }()
	end = sync.OnceValue(func() error {
		cancel()
		for {
			select {
			case <-h.tries: // ends the pause of every cluster that waits to be tried again
			case err := <-done:
				return err
			}
		}
	})
	t.Cleanup(func() { end() })
	return end
}

// awaitRetry waits until a cluster waits to be tried again.
func (h *testClusters) awaitRetry(t *testing.T) chan time.Time {
	t.Helper()
	select {
	case again := <-h.tries:
		return again
	case <-time.After(time.Minute):
		t.Fatalf("no cluster waits to be tried again; the log:\n%s", h.log)
		return nil
	}
}

// awaitServed waits until a cluster's sidecar runs.
func (h *testClusters) awaitServed(t *testing.T, name string) {
	t.Helper()
	patience := time.After(time.Minute)
	for !strings.Contains(h.log.String(), "accordion."+name+": ready:") {
		select {
		case <-h.log.news:
		case <-patience:
			t.Fatalf("cluster %s is not served; the log:\n%s", name, h.log)
		}
	}
}

var away = answer{connect: &adapter.NoAnswerError{Err: errors.New("nobody there")}}

func TestAClusterThatIsAwayAtTheBeginningIsServedWhenItComes(t *testing.T) {
	slow := answer{found: []adapter.Finding{{Severity: adapter.Unanswered, What: "slurmctld is not up"}}}
	h := build(t, []string{"a", "far"}, map[int][]answer{1: {away, away, slow, slow, {}}})
	end := h.open(t)
	h.awaitServed(t, "a")
	for range 4 {
		close(h.awaitRetry(t))
	}
	h.awaitServed(t, "far")
	if err := end(); err != nil {
		t.Error(err)
	}
	text := h.log.String()
	for _, line := range []string{
		`[ERROR] accordion.far: the batch system does not answer: it is tried again every 10 s: error="nobody there"`,
		`[ERROR] accordion.far: preflight: slurmctld is not up`,
		`[ERROR] accordion.far: the batch system does not answer: it is tried again every 10 s` + "\n",
		`[INFO]  accordion.far: accordion serves: `,
		`[INFO]  accordion.far: accordion stopped; running jobs continue`,
		`[INFO]  accordion.a: accordion stopped; running jobs continue`,
	} {
		if n := strings.Count(text, line); n != 1 {
			t.Errorf("%d times, want once: %s\n%s", n, line, text)
		}
	}
}

func TestOneThatIsNotFitKeepsAllFromBeingServed(t *testing.T) {
	unfit := answer{found: []adapter.Finding{{Severity: adapter.Fatal, What: "no accounting"}}}
	h := build(t, []string{"a", "b", "c"}, map[int][]answer{1: {unfit}, 2: {away}})
	err := h.open(t)()
	if err == nil || err.Error() != "cluster b: "+errUnfit.Error() {
		t.Errorf("%v", err)
	}
	if text := h.log.String(); strings.Contains(text, "serves") || !strings.Contains(text, "accordion.b: preflight: no accounting") {
		t.Errorf("the log:\n%s", text)
	}
}

func TestOneThatIsNotFitWhenItComesIsTriedAgainAndTheOthersGoOn(t *testing.T) {
	unfit := answer{found: []adapter.Finding{{Severity: adapter.Fatal, What: "no accounting"}}}
	h := build(t, []string{"a", "b"}, map[int][]answer{1: {away, unfit, unfit, {}}})
	end := h.open(t)
	for range 3 {
		close(h.awaitRetry(t))
	}
	h.awaitServed(t, "b")
	h.awaitServed(t, "a")
	if err := end(); err != nil {
		t.Error(err)
	}
	if text := h.log.String(); strings.Count(text, "preflight: no accounting") != 1 || strings.Count(text, "the cluster is not served") != 1 {
		t.Errorf("the log:\n%s", text)
	}
}

// ended is a Leaser whose lease another sidecar has taken, so that the sidecar of the test ends.
type ended struct{ adapter.Leaser }

func (ended) TakeLease(context.Context, adapter.Claim) error {
	return &adapter.LeaseHeldError{Holder: adapter.Holder{Until: time.Now().Add(time.Hour).Unix()}}
}
func (ended) LeaveLease(context.Context, adapter.Holder, time.Duration) error { return nil }

func TestASidecarThatEndsIsBegunAgainAndTheOthersGoOn(t *testing.T) {
	h := build(t, []string{"a", "b"}, nil)
	free, tries := h.instances[1].connect, 0
	h.instances[1].insist.takeOver = true
	h.instances[1].connect = func(ctx context.Context, conf config.Config, log hclog.Logger) (*cluster.Cluster, error) {
		c, err := free(ctx, conf, log)
		if tries++; err == nil && tries < 3 {
			c.Leaser = ended{}
		}
		return c, err
	}
	end := h.open(t)
	for range 2 {
		h.awaitServed(t, "a")
		close(h.awaitRetry(t))
	}
	h.awaitServed(t, "b")
	if h.instances[1].insist.takeOver {
		t.Error("it takes the lease from others again and again")
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if text := h.log.String(); !strings.Contains(text, "[ERROR] accordion.b: the cluster is not served: it is tried again every 10 s: error=") {
		t.Errorf("the log:\n%s", text)
	}
}

func TestClustersThatTheirBatchSystemsCallAlikeAreRefused(t *testing.T) {
	h := build(t, []string{"", "linux"}, map[int][]answer{0: {{name: "linux"}}})
	err := h.open(t)()
	if err == nil || !strings.Contains(err.Error(), `the batch system calls this cluster "linux", as another one of the list is called`) {
		t.Errorf("%v", err)
	}
	h = build(t, []string{"", "linux"}, map[int][]answer{0: {{name: "east"}}})
	end := h.open(t)
	h.awaitServed(t, "east")
	if err := end(); err != nil {
		t.Error(err)
	}
	if text := h.log.String(); !strings.Contains(text, "accordion.east: accordion serves") {
		t.Errorf("the log does not say the cluster's own name:\n%s", text)
	}
}
