// Package selector answers the views of delegated scheduling for one application. An answer says how many hosts of which clusters the
// application requests, and for how long.
//
//	model, err := selector.Parse("amdahl:p=0.99,t1=10h,nodes=1-256")
//	s, err := model.Start(0, os.Stderr)
//	s.See(sight)
//	said := <-s.Answers()
//
// model.go parses models. moldable.go and complex.go compute answers, with the algorithms of core/moldable; program.go asks a program.
// sight.go has the view.
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

// Model describes what an application wants. Parse returns one.
type Model struct {
	choices []core.EP // configurations of a moldable application, at speed 1
	work    float64   // of an application on several clusters: host-seconds at speed 1
	rounds  float64   // number of iterations of an application on several clusters
	command []string  // command line of a program that answers views
	other   func() Chooser
}

// By returns a model that uses the Chooser that `make` returns. `make` is called once for each application.
func By(make func() Chooser) Model { return Model{other: make} }

// errModel is the error for a text that is no model.
var errModel = errors.New("is no model: write configurations (4x2h|8x70m), amdahl:…, downey:…, cem:work=HOST-SECONDS,iterations=N or exec:COMMAND")

// Parse parses a model. The forms "4x2h|8x70m", "amdahl:…" and "downey:…" are for one cluster, and core/moldable.Parse
// describes them. "cem:work=HOST-SECONDS,iterations=N" is for several clusters simultaneously. "exec:COMMAND" is a
// program that answers views. Times are for clusters of speed 1. Errors are for the user, in one line.
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

// mostNumber is the largest number in a model. Above it, a float64 no longer represents every number of host-seconds.
const mostNumber = 1e15

func number(text, name string) (float64, bool) {
	digits, named := strings.CutPrefix(text, name)
	n, err := strconv.ParseFloat(digits, 64)
	return n, named && err == nil && n >= 0 && n <= mostNumber
}

// Several reports whether the application may run on several clusters simultaneously.
func (m Model) Several() bool { return m.choices == nil }

// Chooser computes answers to views. It reuses memory between calls, so only one call may be under way at a time.
type Chooser interface {
	// Choose returns the answer to a view. If the application fits nowhere, the answer has Keep set. `most` is the longest walltime that
	// may be requested, in seconds; 0 means any.
	Choose(s Sight, most core.Time) (Answer, error)
}

// Answer is an answer to a view.
type Answer struct {
	Hosts    []moldable.Part // clusters by their numbers in messages (Seen.C)
	Walltime core.Time       // seconds
	Keep     bool            // the last answer stays; Hosts and Walltime are not used
}

// Same reports whether two answers request the same hosts and walltime.
func (a Answer) Same(b Answer) bool {
	return a.Keep == b.Keep && a.Walltime == b.Walltime && slices.Equal(a.Hosts, b.Hosts)
}

// Chooser returns the model's Chooser, or nil if a program answers views.
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

// seconds returns whole seconds, rounded up except for rounding errors, and at most the longest walltime.
func seconds(t float64) core.Time {
	const rounding = 1e-9
	if t >= float64(core.MaxTotal) {
		return core.MaxTotal
	}
	return max(1, core.Time(math.Ceil(t-rounding)))
}

// Longest returns the largest walltime that may be requested.
func Longest(most core.Time) core.Time {
	if most <= 0 {
		return core.MaxTotal
	}
	return min(most, core.MaxTotal)
}
