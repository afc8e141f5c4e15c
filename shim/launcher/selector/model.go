// Package selector answers the views of delegated scheduling for one application: which hosts of which clusters it wants, and for how long.
//
//	model, err := selector.Parse("amdahl:p=0.99,t1=10h,nodes=1-256")
//	s, err := model.Start(0, os.Stderr)
//	s.See(sight)
//	said := <-s.Answers()
//
// Files: model.go reads what users write; moldable.go and complex.go compute, by the algorithms of core/moldable; program.go asks a program;
// sight.go is the view.
package selector

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"accordion/core"
	"accordion/core/moldable"
)

// Model says what an application wants of what it is shown. It is read by Parse.
type Model struct {
	choices []core.EP // of a moldable application, at speed 1
	work    float64   // of one that runs on several clusters: host-seconds at speed 1
	rounds  float64   // its iterations
	command []string  // of a program that selects
	other   func() Chooser
}

// By is the model of which the caller knows the Chooser; make is called once for each application.
func By(make func() Chooser) Model { return Model{other: make} }

// errModel says that a model is of no kind that is known.
var errModel = errors.New("is no model: write configurations (4x2h|8x70m), amdahl:…, downey:…, cem:work=HOST-SECONDS,iterations=N or exec:COMMAND")

// Parse reads a model: "4x2h|8x70m", "amdahl:…" and "downey:…" as core/moldable.Parse has them, for one cluster;
// "cem:work=HOST-SECONDS,iterations=N" for several at once; "exec:COMMAND", a program that answers views. Times are those of clusters
// of speed 1. Errors are for the user, in one line.
func Parse(text string) (Model, error) {
	kind, rest, _ := strings.Cut(strings.TrimSpace(text), ":")
	switch kind {
	case "":
		return Model{}, errors.New("the model is empty: write configurations, such as 4x2h|8x70m")
	case "cem":
		return parseCEM(rest)
	case "exec":
		return parseExec(rest)
	}
	choices, err := moldable.Parse(text)
	if err != nil {
		if kind != "amdahl" && kind != "downey" && !strings.ContainsAny(text, "0123456789") {
			return Model{}, fmt.Errorf("%s %w", core.Shown(text), errModel)
		}
		return Model{}, err
	}
	return Model{choices: choices}, nil
}

func parseCEM(text string) (Model, error) {
	const form = "cem:work=HOST-SECONDS,iterations=N, such as cem:work=460800,iterations=1000"
	work, rest, both := strings.Cut(text, ",")
	iterations := "iterations=0"
	if both {
		iterations = rest
	}
	w, ok1 := number(work, "work=")
	n, ok2 := number(iterations, "iterations=")
	if !ok1 || !ok2 || w <= 0 {
		return Model{}, fmt.Errorf("%s is no model of an application on several clusters: write %s", core.Shown("cem:"+text), form)
	}
	return Model{work: w, rounds: n}, nil
}

// mostNumber bounds the numbers of a model: a host-second more or less still counts there.
const mostNumber = 1e15

func number(text, name string) (float64, bool) {
	digits, named := strings.CutPrefix(text, name)
	n, err := strconv.ParseFloat(digits, 64)
	return n, named && err == nil && n >= 0 && n <= mostNumber
}

// Several says whether the application may run on several clusters at once.
func (m Model) Several() bool { return m.choices == nil }

// Chooser answers views by computing. It keeps memory between its calls, of which one may be under way at a time.
type Chooser interface {
	// Choose is what the application wants of a view; Keep when there is nothing that it could have. Most is the largest walltime
	// that may be asked for, in seconds; 0: any.
	Choose(s Sight, most core.Time) (Answer, error)
}

// Answer is what an application wants.
type Answer struct {
	Hosts    []moldable.Part // Cluster is the cluster's number in messages (Seen.C)
	Walltime core.Time       // seconds
	Keep     bool            // what was wanted before; Hosts and Walltime mean nothing
}

// Same says whether two answers ask for the same.
func (a Answer) Same(b Answer) bool {
	return a.Keep == b.Keep && a.Walltime == b.Walltime && slices.Equal(a.Hosts, b.Hosts)
}

// Chooser is what computes for the model; nil where a program does.
func (m Model) Chooser() Chooser {
	switch {
	case m.command != nil:
		return nil
	case m.other != nil:
		return m.other()
	case m.choices != nil:
		return newMoldable(m.choices)
	}
	return &complexChooser{work: m.work, iterations: m.rounds}
}

// seconds is a time in whole seconds, rounded up but for what is rounding already; never longer than a job may last.
func seconds(t float64) core.Time {
	const rounding = 1e-9
	if t >= float64(core.MaxTotal) {
		return core.MaxTotal
	}
	return max(1, core.Time(math.Ceil(t-rounding)))
}

// Longest is the largest walltime that may be asked for.
func Longest(most core.Time) core.Time {
	if most <= 0 {
		return core.MaxTotal
	}
	return min(most, core.MaxTotal)
}
