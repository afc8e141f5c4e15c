package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"accordion/core"
	"accordion/core/malleable"
	"accordion/core/sched"
)

// patients lists the EASY policies for evolving jobs, in which a few jobs that have waited long have a reservation.
// They have their own order.
var patients = []struct {
	name    string
	options []string // each may follow behind a colon
	help    string
	policy  sched.Patient
	resizes bool // the policy changes the sizes of running malleable jobs; it takes no sizing rule
}{
	{"easy-evolving", []string{reservations},
		"EASY back-filling that uses profiles: a job starts if its whole profile fits, and the first waiting job has a reservation", sched.Patient{}, false},
	{"patient", []string{patience, factor, reservations},
		"the same, but a job has a reservation only after it has waited N times its requested time (default 2) or PATIENCE (default 24 h), whichever is less", sched.Patient{Factor: 2, Most: 24 * 3600}, false},
	{"malleable", []string{patience, factor, toReference},
		"the same, and malleable jobs start on what is free, shrink for jobs that wait and grow into what is left; " + toReference + ": not beyond their reference", sched.Patient{Factor: 2, Most: 24 * 3600}, true},
}

// Options besides patience: how many times its requested time a job waits until it is due, and how many jobs have a
// reservation.
const (
	factor       = "xN"
	reservations = "rN"
	toReference  = "to-reference" // no malleable job grows beyond its reference
)

// plusSizing is an optional suffix: a sizing rule limits the sizes of moldable jobs. Without the suffix moldable jobs may have
// all sizes that they list.
const plusSizing = "+SIZING"

// everybody is the option text that gives every job a reservation.
const everybody = "all"

// patientNames returns the names for messages and help.
func patientNames() []string {
	var all []string
	for _, p := range patients {
		name := p.name
		for _, o := range p.options {
			name += "[:" + o + "]"
		}
		if !p.resizes {
			name += "[" + plusSizing + "]"
		}
		all = append(all, name)
	}
	return all
}

// patientHelp returns a line for each policy.
func patientHelp() string {
	var text strings.Builder
	for _, p := range patients {
		text.WriteString(line(p.name, p.help))
	}
	return text.String()
}

// patientNamed returns the policy with a name from patients, or nil if there is none.
func patientNamed(name string, order sched.Order) (sched.Policy, error) {
	parameters, sizing, sized := strings.Cut(name, plusSizing[:1])
	words := strings.Split(parameters, ":")
	for _, p := range patients {
		if p.name != words[0] {
			continue
		}
		made, set := p.policy, map[string]bool{}
		for _, word := range words[1:] {
			option := readPatience(&made, word)
			if word == toReference {
				option = word
			}
			if !slices.Contains(p.options, option) {
				examples := "x2 and r1, or r" + everybody
				if p.resizes {
					examples = "x2"
				}
				return nil, fmt.Errorf("policy %s: %s is not one of %s: a duration above 0 such as 12h, %s", core.Shown(name), core.Shown(word), strings.Join(p.options, ", "), examples)
			}
			if set[option] {
				return nil, fmt.Errorf("policy %s: %s is a second %s", core.Shown(name), core.Shown(word), option)
			}
			set[option] = true
		}
		if order != sched.FirstCome {
			return nil, ownOrder(name, order)
		}
		switch {
		case p.resizes && sized:
			return nil, fmt.Errorf("policy %s: it chooses the sizes itself; take %s", core.Shown(name), parameters)
		case p.resizes:
			return malleable.Policy{Patient: made, ToReference: set[toReference]}, nil
		case !sized:
			return made, nil
		}
		ruled, err := WithSizes(made, sizing)
		if err != nil {
			return nil, fmt.Errorf("policy %s: %w", core.Shown(name), err)
		}
		return ruled, nil
	}
	return nil, nil
}

// readPatience parses one option and returns its name, or "" if the text is not an option.
func readPatience(p *sched.Patient, word string) string {
	const most = 1_000_000
	number := func(text string) (int, bool) {
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= 1 && n <= most
	}
	if text, is := strings.CutPrefix(word, factor[:1]); is {
		if n, ok := number(text); ok {
			p.Factor = int64(n)
			return factor
		}
		return ""
	}
	if text, is := strings.CutPrefix(word, reservations[:1]); is {
		n, ok := number(text)
		if text == everybody {
			n, ok = sched.AllReserved, true
		}
		if p.Reservations = n; ok {
			return reservations
		}
		return ""
	}
	if d, ok := core.ParseDuration(word); ok && d > 0 {
		p.Most = d
		return patience
	}
	return ""
}

// ownOrder returns the error for a policy that takes no --order.
func ownOrder(name string, order sched.Order) error {
	return fmt.Errorf("policy %s has its own order: leave out --order %s", core.Shown(name), order)
}
