package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"accordion/adapter/journal"
	"accordion/adapter/view"
	"accordion/core"
)

func init() {
	for name, program := range map[string]func(argument string) error{
		"past-queue": pastQueue, "past-applications": pastApplications, "point-to-free-port": pointToFreePort, "fetch": fetch, "visit": visit,
	} {
		programs[name] = func() {
			if err := program(os.Args[1]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
}

// pastQueue writes the journal of a sidecar that planned an evolving job behind an ordinary one.
func pastQueue(path string) error {
	j, err := journal.Open(path)
	if err != nil {
		return err
	}
	defer j.Close()
	t := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := t.Unix()
	queue, err1 := json.Marshal(view.Queue{At: now, Cluster: "lab", Nodes: 16, Lead: 4, Closures: []view.Closure{}, Jobs: []view.Entry{
		{ID: 5, Submitted: now - 3600, User: "bob", Name: "big", Kind: "ordinary", Phase: "running", Nodes: "n[1-14]", Size: 14,
			Start: now - 600, End: now + 600, Free: now + 660},
		{ID: 7, Submitted: now - 300, User: "ann", Name: "cfd", Kind: "evolving", Phase: "waiting", Request: "ep=5x500s,10x1h", Rank: 1, Size: 5,
			Start: now + 660, End: now + 4760, Free: now + 4760, Plan: core.EP{{Duration: 500, Nodes: 5}, {Duration: 3600, Nodes: 10}}, Why: "nodes"},
	}})
	view, err2 := json.Marshal(view.Status{At: now, Cluster: "lab"})
	err3 := j.Event(journal.Event{At: t.Add(-5 * time.Minute), Job: 7, Submitted: now - 300, Kind: "accepted", Text: "ep=5x500s,10x1h"})
	err4 := j.Event(journal.Event{At: t.Add(-5 * time.Minute), Job: 7, Submitted: now - 300, Kind: "planned", Text: "its start is planned in 16m",
		Fields: map[string]any{"start": now + 660}})
	return errors.Join(err1, err2, err3, err4, j.PutQueue(queue), j.PutView(view))
}

// pastApplications writes the journal of launchers' applications. One application waits on two clusters, and has job 7
// of the first cluster as a part. Another application has ended.
func pastApplications(path string) error {
	j, err := journal.Open(path)
	if err != nil {
		return err
	}
	defer j.Close()
	t := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := t.Unix()
	data, err1 := json.Marshal(view.Applications{At: now, Clusters: []view.ApplicationCluster{{Name: "east", Hosts: 16}, {Name: "lab", Hosts: 8}},
		Applications: []view.Application{{ID: 3, Name: "cem", User: "ann", State: "waiting", Phase: "waiting", Rank: now - 300, Tag: 2, Walltime: 3600, View: 4, Acked: 4,
			Estimate: now + 660, Why: "its hosts are not free", Launcher: true,
			Parts: []view.ApplicationPart{{Cluster: "east", Job: 7, Hosts: 5, Stand: "waiting"}, {Cluster: "lab", Job: 70, Hosts: 2, Stand: "waiting"}}}}})
	err2 := j.Event(journal.Event{At: t.Add(-time.Hour), Job: 2, Kind: "done", Text: "all parts are over"})
	return errors.Join(err1, err2, j.PutView(data))
}

// pointToFreePort writes a free port to a file, in place of PORT.
func pointToFreePort(file string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	_, port, err1 := net.SplitHostPort(l.Addr().String())
	text, err2 := os.ReadFile(file)
	if err := errors.Join(err1, err2, l.Close()); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "PORT", port)), 0o600)
}

// fetch prints the metrics that are served at the address [metrics] listen of the configuration.
func fetch(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(text), `metrics.listen = "`)
	address, _, _ := strings.Cut(rest, `"`)
	client := &http.Client{Timeout: time.Minute}
	answer, err := client.Get("http://" + address + "/metrics")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(os.Stdout, answer.Body)
	return err
}

// visit requests a path from a web server on a Unix socket and prints the answer, as in run/web.sock/job?id=1. For the event stream it
// prints the first message.
func visit(place string) error {
	socket, path, _ := strings.Cut(place, ".sock")
	dial := func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", socket+".sock") }
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: dial}}
	answer, err := client.Get("http://jobs.example.org" + path)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	fmt.Println(answer.Status)
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Println(lines.Text())
		if strings.HasPrefix(lines.Text(), "data:") {
			return nil
		}
	}
	return lines.Err()
}
