package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"accordion/internal/testenv"
	"accordion/shim/wire/launcher"
)

// monitoring is the folder with the example configuration for Prometheus and Grafana.
const monitoring = "../../examples/prometheus"

func TestTheAlertsAreRaisedWhenTheyShouldBe(t *testing.T) {
	testenv.Needs(t, testenv.Prometheus)
	for _, command := range []string{"check rules accordion.rules.yml", "test rules accordion.rules.test.yml", "check config --syntax-only prometheus.yml"} {
		c := exec.CommandContext(t.Context(), "promtool", strings.Fields(command)...)
		c.Dir = monitoring
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", command, err, out)
		}
	}
	rules, tests := read(t, "accordion.rules.yml"), read(t, "accordion.rules.test.yml")
	for _, alert := range regexp.MustCompile(`(?m)alert: (\w+)$`).FindAllStringSubmatch(rules, -1) {
		raised := regexp.MustCompile(`alertname: ` + alert[1] + `\n +exp_alerts:(\n +- | \[)\{exp_labels`)
		if !raised.MatchString(tests) || !strings.Contains(tests, "alertname: "+alert[1]+", exp_alerts: []") {
			t.Errorf("the tests of the rules do not say when %s is raised, and when it is not", alert[1])
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(monitoring, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWhatTheDashboardAndTheAlertsAskForIsThere runs each query of the dashboard and the alerts on a Prometheus that
// scrapes a sidecar.
func TestWhatTheDashboardAndTheAlertsAskForIsThere(t *testing.T) {
	testenv.Needs(t, testenv.Prometheus)
	address := unused(t)
	s := newServing(t, 1, 64, fmt.Sprintf("metrics.listen = %q\n", address))
	s.start()
	s.await("the cluster is read", s.read)
	ctx, over := context.WithCancel(context.Background())
	g := &gathering{serving: s, ctx: ctx}
	defer g.all.Wait()
	defer over() // disconnect before the sidecar is killed
	g.launch([]launcher.Hosts{{C: 0, N: 1}}, 1000)

	p := watching(t, address)
	s.await("Prometheus has read it several times, the launcher's messages too", func() bool {
		return len(p.ask(t, `accordion_launcher_messages_total{direction="out"} and count_over_time(accordion_launcher_messages_total[1m]) > 2`)) > 0
	})
	// If a scrape takes longer than Prometheus waits for it, as on a busy machine, queries return nothing until the
	// next scrape.
	end := time.Now().Add(patience)
	found := func(expression string) bool {
		for len(p.ask(t, expression)) == 0 {
			if time.Now().After(end) {
				return false
			}
			time.Sleep(50 * time.Millisecond) // there is no event to wait for
		}
		return true
	}
	asked := map[string]bool{}
	for _, q := range append(dashboard(t), p.alerts(t)...) {
		if !q.alert && !found(q.expression) {
			t.Errorf("%s: nothing is found: %s", q.where, q.expression)
		}
		for _, name := range metricNames.FindAllString(q.expression, -1) {
			asked[name] = true
		}
	}
	for name := range asked {
		if !found(name) {
			t.Errorf("there is no %s", name)
		}
	}
	if len(asked) < 20 {
		t.Errorf("they ask for %d metrics only: %v", len(asked), asked)
	}
	for _, name := range variableMetrics(t) {
		if !found(name) {
			t.Errorf("the dashboard's variable asks for %s, which is not there", name)
		}
	}
}

var metricNames = regexp.MustCompile(`\b(?:up|(?:accordion|process)_[a-z_]+)\b`)

// question is a query for Prometheus.
type question struct {
	where, expression string
	alert             bool // the query is an alert, whose correct result is empty
}

// dashboard returns the queries of the panels in the form in which Grafana sends them.
func dashboard(t *testing.T) []question {
	t.Helper()
	var d struct {
		Panels []struct {
			ID          int
			Title, Type string
			Targets     []struct{ Expr, RefID string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, "grafana.json")), &d); err != nil {
		t.Fatal(err)
	}
	var all []question
	numbers := map[int]bool{}
	for _, p := range d.Panels {
		if numbers[p.ID] {
			t.Errorf("two panels have the number %d", p.ID)
		}
		numbers[p.ID] = true
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("the panel %q asks nothing", p.Title)
		}
		for _, target := range p.Targets {
			as := strings.NewReplacer("$instance", ".*", "$__rate_interval", "1m").Replace(target.Expr)
			if strings.Contains(as, "$") {
				t.Errorf("the panel %q has a variable that is not known: %s", p.Title, as)
			}
			all = append(all, question{where: "the panel " + p.Title, expression: as})
		}
	}
	return all
}

// variableMetrics returns the metrics by which the dashboard finds the sidecars.
func variableMetrics(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, m := range regexp.MustCompile(`"definition": "label_values\((\w+), instance\)"`).FindAllStringSubmatch(read(t, "grafana.json"), -1) {
		all = append(all, m[1])
	}
	if len(all) != 1 {
		t.Errorf("the dashboard's variables ask for %v, want one metric", all)
	}
	return all
}

// prometheus is the address of a running Prometheus.
type prometheus string

// watching starts a Prometheus with the example configuration, except for the sidecar's address and the scrape
// interval.
func watching(t *testing.T, sidecar string) prometheus {
	t.Helper()
	dir := t.TempDir()
	text := strings.NewReplacer("127.0.0.1:9820", sidecar, "scrape_interval: 15s", "scrape_interval: 1s").Replace(read(t, "prometheus.yml"))
	for name, text := range map[string]string{"prometheus.yml": "global: {evaluation_interval: 1s}\n" + text, "accordion.rules.yml": read(t, "accordion.rules.yml")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address := unused(t)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	c := exec.Command("prometheus", "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill() // killed, because it stores nothing of value
		_ = c.Wait()
		if t.Failed() {
			said, _ := os.ReadFile(log.Name())
			t.Logf("Prometheus said\n%s", said)
		}
	})
	p := prometheus(address)
	for end := time.Now().Add(patience); ; {
		_, err := p.get(t, "/-/ready")
		if err == nil {
			return p
		}
		if time.Now().After(end) {
			t.Fatalf("Prometheus is not ready: %v", err)
		}
		time.Sleep(50 * time.Millisecond) // there is no event to wait for
	}
}

func (p prometheus) get(t *testing.T, path string) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+string(p)+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	return text, err
}

// data returns the data of the API's response for a path.
func data[T any](t *testing.T, p prometheus, path string) T {
	t.Helper()
	var answer struct{ Data T }
	text, err := p.get(t, path)
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return answer.Data
}

// ask evaluates an expression now.
func (p prometheus) ask(t *testing.T, expression string) []any {
	t.Helper()
	return data[struct{ Result []any }](t, p, "/api/v1/query?query="+url.QueryEscape(expression)).Result
}

// alerts returns the queries of Prometheus's alert rules. Prometheus must have evaluated each of them without an error.
func (p prometheus) alerts(t *testing.T) []question {
	t.Helper()
	type rule struct{ Name, Query, Health, LastError string }
	type rules struct{ Groups []struct{ Rules []rule } }
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) { // there is no event to wait for
		var all []question
		evaluated := true
		for _, g := range data[rules](t, p, "/api/v1/rules").Groups {
			for _, r := range g.Rules {
				evaluated = evaluated && r.Health == "ok"
				if r.Health == "err" {
					t.Fatalf("the alert %s: %s", r.Name, r.LastError)
				}
				all = append(all, question{where: "the alert " + r.Name, expression: r.Query, alert: true})
			}
		}
		if evaluated && len(all) > 0 {
			return all
		}
		if time.Now().After(end) {
			t.Fatalf("the rules have not been evaluated: %v", all)
		}
	}
}
