package metrics_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"accordion/adapter"
	"accordion/adapter/metrics"
)

var write = flag.Bool("accordion.write", false, "write what is seen as what is wanted")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// page returns the text that Prometheus reads from /metrics.
func page(t *testing.T, address string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	answer, err := client.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("status %s, error %v: %s", answer.Status, err, text)
	}
	return string(text)
}

// serving serves the metrics until the test ends, and returns the address.
func serving(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	l, err := metrics.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func TestMeterCallsAreExported(t *testing.T) {
	now := time.Unix(1700000000, 0)
	m := metrics.New(func() time.Time { return now })
	address := serving(t, m)
	if got := page(t, address); !strings.Contains(got, "\naccordion_reading_age_seconds -1\n") {
		t.Errorf("before the first reading:\n%s", got)
	}
	m.Cycle(30*time.Millisecond, now.Add(-3*time.Second), map[string]int{"waiting": 4, "late": 1}, 2000)
	m.Cycle(40*time.Millisecond, now.Add(-2*time.Second), map[string]int{"waiting": 3}, 1999)
	m.Call("merge", 400*time.Millisecond, nil)
	m.Call("expand", time.Second, fmt.Errorf("salloc: %w", adapter.ErrBusy))
	m.Call("observe", 10*time.Second, context.DeadlineExceeded)
	m.Call("observe", time.Second, errors.New("squeue: slurm_load_jobs error"))
	m.Call("shrink", time.Second, adapter.ErrTrap)
	m.Call("shrink", time.Second, adapter.ErrGone)
	m.Grew(400*time.Millisecond, "")
	m.Grew(31*time.Second, "ordinary overrun")
	m.Broke("lost node")
	m.Spared(300)
	m.Unused(900, 2)
	m.Spared(-5) // a negative count must not make the process fail
	a := metrics.NewApplications()
	m.Serves(a)
	m.WatchJournal("sidecar", func() int64 { return 4 << 20 })
	m.WatchJournal("applications", func() int64 { return 0 })
	a.Passed(3 * time.Millisecond)
	a.Applications(map[string]int{"waiting": 2, "started": 1})
	a.Applications(map[string]int{"waiting": 1, "being ended": 1})
	a.Frame("in", "hello", 90)
	a.Frame("out", "change", 400)
	a.Frame("out", "change", 40)
	a.Frame("in", "", 3)
	a.FailedPreparation("a", "reserve: nodes are busy: n7")
	a.FailedPreparation("a", "not prepared within 10 s")
	a.FailedPreparation("b", "its job is gone")
	a.FailedPreparation("b", "64 nodes were reserved, not 65")
	var ours strings.Builder
	for line := range strings.Lines(page(t, address)) {
		if strings.Contains(line, "accordion_") {
			ours.WriteString(line)
		}
	}
	const golden = "testdata/metrics.golden"
	if *write {
		if err := os.WriteFile(golden, []byte(ours.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := ours.String(); got != string(want) {
		t.Errorf("the metrics are not those of %s, which -accordion.write writes anew:\n%s", golden, got)
	}
}

func TestOnlyTheMetricsAreServed(t *testing.T) {
	address := serving(t, metrics.New(time.Now))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	for path, want := range map[string]int{"/": 404, "/metrics/x": 404, "/debug/pprof/": 404} {
		answer, err := client.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %s, want %d", path, answer.Status, want)
		}
	}
	answer, err := client.Post("http://"+address+"/metrics", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", answer.Status)
	}
}

func TestAddressInUseIsAnErrorWithAHint(t *testing.T) {
	l, err := metrics.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := metrics.Listen(l.Addr().String()); err == nil || !strings.Contains(err.Error(), "[metrics] listen") {
		t.Errorf("error %v, want one that names the setting", err)
	}
}

// Programs that open connections and send nothing must not use up the file descriptors, and must not keep a scraper from connecting.
func TestIdleConnectionsAreBoundedAndAScrapeIsServed(t *testing.T) {
	address := serving(t, metrics.New(time.Now))
	var idle []net.Conn
	defer func() {
		for _, c := range idle {
			c.Close()
		}
	}()
	for range 300 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, c)
	}
	if text := page(t, address); !strings.Contains(text, "accordion_cycle_seconds") {
		t.Errorf("the scraper got %q", text)
	}
	open := 0
	for _, c := range idle {
		c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			open++
		}
	}
	if open > 16 {
		t.Errorf("%d idle connections of one client are open, want 16", open)
	}
}

// Metrics must not name users or jobs, because every program that can connect to the port can read them. PrivateData does not apply there.
func TestNoMetricNamesAUserOrAJob(t *testing.T) {
	text, err := os.ReadFile("testdata/metrics.golden")
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"verb", "reason", "cause", "phase", "type", "direction", "state", "cluster", "limit", "journal", "le"}
	for _, label := range regexp.MustCompile(`[{,]([a-z_]+)="`).FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains(known, label[1]) {
			t.Errorf("a metric has the label %q: may everybody read its values?", label[1])
		}
	}
}
