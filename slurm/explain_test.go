package slurm_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"accordion/adapter/view"
	"accordion/internal/lab"
)

// freeAddress returns an address of this machine on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// awaitQueueExplanation waits until `accordion explain` prints all of the texts about a job.
func (p *process) awaitQueueExplanation(job string, texts ...string) {
	p.t.Helper()
	p.lab.Await(p.t, time.Minute, "the queue has job "+job, func() bool {
		return strings.Contains(p.accordion("queue", "--json"), `{"id":`+job+`,`)
	})
	p.awaitExplanation(job, texts...)
}

// awaitExplanation waits as awaitQueueExplanation does, for a job that the sidecar already knows.
func (p *process) awaitExplanation(job string, texts ...string) {
	p.t.Helper()
	said := ""
	defer func() {
		if p.t.Failed() {
			p.t.Log(said)
		}
	}()
	p.lab.Await(p.t, time.Minute, "explain says "+strings.Join(texts, "; "), func() bool {
		said = p.accordion("explain", job)
		for _, text := range texts {
			if !strings.Contains(said, text) {
				return false
			}
		}
		return true
	})
}

func TestAUserWhoseJobWaitsIsToldWhy(t *testing.T) {
	t.Parallel()
	lab := quickLab(t)
	address := freeAddress(t)
	p := serving(t, lab, "[metrics]\nlisten = \""+address+"\"")
	long := lab.Submit(t, "bob", "sleep 600", "--exclusive", "-N22", "-t10", "-J", "long")
	lab.Await(t, time.Minute, "the long job runs", func() bool { return runClient(t, lab, "squeue", "-h", "-j", long, "-o", "%T") == "RUNNING" })
	job := lab.Submit(t, "alice", "sleep 100", "-H", "-N4", "-t5", "--comment=ep=4x1m,6x1m", "-J", "mine")
	wide := lab.Submit(t, "alice", "sleep 600", "--exclusive", "--nice=1000", "-N24", "-t5", "-J", "wide") // ranked after the other job by the site

	p.awaitQueueExplanation(job, `Job `+job+` "mine" of alice is evolving: 4 nodes for 1m, then 6 for 1m.`,
		"It waits, first in the queue.", "It needs 4 nodes for its first step. Of the pool's 24, 22 are held by jobs, 2 are free.",
		"It can start when job "+long+" of bob gives back its 22 nodes, at ", "job "+long+" of bob (ordinary): 22 nodes until ", "planned to start at ")
	p.awaitQueueExplanation(wide, "is an ordinary job of 24 nodes.", "2nd in the queue", "job "+job+" of alice (evolving): 4,6 nodes, planned from ", "This is an estimate")

	var queue view.Queue
	if err := json.Unmarshal([]byte(p.accordion("queue", "--json")), &queue); err != nil || len(queue.Jobs) != 3 {
		t.Fatalf("the queue %+v, error %v", queue, err)
	}
	first, second := queue.Jobs[1], queue.Jobs[2]
	if holder := queue.Jobs[0]; !holder.Holds() || first.Start < holder.End || second.Start < first.End || first.Rank != 1 || second.Rank != 2 {
		t.Errorf("the queue is %+v", queue.Jobs)
	}
	for _, cell := range []string{" mine ", " ~", " 4,6 ", " long "} {
		if table := p.accordion("queue"); !strings.Contains(table, cell) {
			t.Errorf("accordion queue does not show %q:\n%s", cell, table)
		}
	}

	// Without the reservation, Slurm would give the nodes to the wide job before the sidecar sees that they are free.
	lab.Run(t, "root", "scancel", wide)
	lab.Run(t, "root", "scancel", long)
	p.awaitExplanation(job, "start brought forward by ", "job "+long+" of bob ended ", "started: on 4 nodes", "What it was promised", "grows to 6")
	lab.Await(t, time.Minute, "the metrics show a running job and the release that made it one", func() bool {
		metrics := readMetrics(t, address)
		return strings.Contains(metrics, "\naccordion_jobs{phase=\"running\"} 1\n") &&
			strings.Contains(metrics, "\naccordion_call_seconds_count{verb=\"release\"} ")
	})
	lab.Run(t, "root", "scancel", job)
	p.awaitExplanation(job, "Job "+job+" is not in the queue any more.")
	assertClean(t, p)
}

// readMetrics returns the text of the metrics that Prometheus scrapes.
func readMetrics(t *testing.T, address string) string {
	t.Helper()
	c := &http.Client{Timeout: lab.Patience}
	answer, err := c.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
