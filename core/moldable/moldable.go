// Package moldable parses the configurations of moldable jobs and chooses among them. A moldable job can run in one
// of several configurations, and the planner chooses one when the job starts.
//
//	choices, err := moldable.Parse("4x2h|8x70m|16x40m") // 4 nodes for two hours, or 8 for 70 minutes, or …
//	place, ok := new(moldable.Chooser).Best(view, now, core.Job{ID: 1, Choices: choices}) // choice and start
//
// moldable.go and model.go parse what users write. choose.go chooses.
//
// This is the grammar of all requests. job_submit.lua and OAR's admission rules accept the same texts and refuse all
// others with the same words. A table of cases and 10,000 random texts compare them (core/ep/eptest).
//
//	profiles       = profile { "|" profile }                  #EP, ep=; ParseProfiles
//	profile        = step { "," step }                        ep.Parse
//	configurations = step { "|" step } | model                #MOLD, mold=; Parse
//	model          = word ":" name "=" value { "," name "=" value }
//	step           = nodes "x" duration                       core.ParseStep, core.ParseDuration
//
// White space is allowed at both ends of profiles, of a profile and of configurations, but not inside a step. So a
// step, blanks and a range of nodes, 16x2h 4-64, is none of these texts. It is reserved for malleable jobs, with the
// word malleable (#MALLEABLE, malleable=):
//
//	malleable      = step blanks nodes "-" nodes
//
// Until a release has such jobs, each parser refuses the form with its own message, and the plug-in refuses the word.
// In a comment a blank ends a request. So "ep=16x2h 4-64" there stays a profile followed by the user's own words.
//
// The package handles one job at a time. core/sched has the queue.
package moldable

import (
	"strings"

	"accordion/core"
	"accordion/core/ep"
)

// MaxChoices bounds the configurations of one job, so that a hostile job comment cannot make planning slow.
const MaxChoices = 256

// what names the parsed text in messages.
const what = "moldable configurations"

// Parse parses explicit configurations, NODESxDURATION|NODESxDURATION|… as in "4x2h|8x70m" (see core.ParseDuration
// for durations), or a speed-up model: "amdahl:p=0.99,t1=10h,nodes=1-256" and
// "downey:a=64,sigma=1,t1=10h,nodes=1-128". In a model p is the share that runs in parallel, a the average
// parallelism, sigma its variance and t1 the time on one node. A range that ends with ^2 contains only powers of two.
// White space is allowed only at both ends. The result has 1 to MaxChoices profiles of one step each, in the order of
// the text, for core.Job.Choices.
//
// Its error is a *core.SyntaxError with the wrong piece and the correct form, in one printable line.
func Parse(text string) ([]core.EP, error) {
	body, column := core.TrimSpace(text)
	if isModel(body) {
		return parseModel(body, column)
	}
	var choices []core.EP
	for piece := range strings.SplitSeq(body, "|") {
		s, err := core.ParseStep(what, column, piece)
		if err != nil {
			return nil, err
		}
		if len(choices) == MaxChoices {
			return nil, &core.SyntaxError{What: what, Column: column, Piece: piece, Want: "within the 256 configurations that a job may have"}
		}
		choices = append(choices, core.EP{s})
		column += len(piece) + 1
	}
	return choices, nil
}

// Format returns the text form of configurations, such as "4x2h|8x1h10m". Parse reads it.
func Format(choices []core.EP) string {
	var b strings.Builder
	for i, requested := range choices {
		if i > 0 {
			b.WriteByte('|')
		}
		b.WriteString(ep.Format(requested))
	}
	return b.String()
}
