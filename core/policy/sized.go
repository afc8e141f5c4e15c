package policy

import (
	"fmt"
	"slices"
	"strings"

	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
	"accordion/core/sizing/easy"
)

// sized lists the policies that choose the sizes of moldable jobs by a rule of package sizing. They have their own
// orders.
//
// The paper is Barsanti and Sodan, "Adaptive Job Scheduling Via Predictive Job Resource Allocation" (JSSPP 2006).
var sized = []struct {
	name    string
	options []string // each may follow behind a colon; PATIENCE is a duration
	help    string
	make    func(o options) sched.Policy
}{
	{"traditional", []string{"top"}, "from the SCOJO-P paper: EASY, short jobs first, each on its reference size, without adaptation",
		func(o options) sched.Policy { return easy.Traditional{Order: o.classes()} }},
	{"scojo-p", []string{"nonpredictive", "top"}, "from the SCOJO-P paper: short jobs first, sizes by the load over the job's run time",
		func(o options) sched.Policy {
			load := sizing.Scojo()
			if load.Blind = o.has("nonpredictive"); load.Blind {
				load.Beyond = true
			}
			return easy.EASY{Sizing: load, Floor: sizing.AsListed, Order: o.classes(), Remembers: true}
		}},
	{"cirne-berman", []string{"opt", "top"}, "from the SCOJO-P paper: the size that ends first in a simulation at submission; opt: up to the reference",
		func(o options) sched.Policy {
			p := easy.CirneBerman{Order: o.classes()}
			if o.has("opt") {
				p.Top = easy.ToReference
			}
			return p
		}},
	{"share", []string{patience}, "EASY, least work first, sizes by each job's part of the machine; jobs that have waited PATIENCE go first",
		func(o options) sched.Policy {
			return easy.EASY{Sizing: sizing.Share{}, Order: easy.Order{By: easy.Work, Patience: o.patience}}
		}},
}

// patience is the option that is a duration.
const patience = "PATIENCE"

// bases lists the policies that take a sizing rule: NAME+SIZING.
var bases = []struct {
	name, help string
	make       func(s sizing.Sizing) sched.Policy
}{
	{"easy", "EASY back-filling; a rule sets the sizes of moldable jobs: ", func(s sizing.Sizing) sched.Policy { return easy.EASY{Sizing: s} }},
	{"repeated", "repeated back-filling; a rule sets the sizes of moldable jobs: ", func(s sizing.Sizing) sched.Policy { return sched.Repeated{Sizing: s} }},
}

// options are the parts that follow the name of a policy.
type options struct {
	words    []string
	patience core.Time
}

func (o options) has(word string) bool { return slices.Contains(o.words, word) }

// classes returns the paper's order.
func (o options) classes() easy.Order {
	order := easy.Order{By: easy.Class}
	if o.has("top") {
		order.Aging = easy.ToTop
	}
	return order
}

// sizedNames returns the names for messages and help.
func sizedNames() []string {
	var all []string
	for _, b := range bases {
		all = append(all, b.name+"+SIZING")
	}
	for _, p := range sized {
		name := p.name
		for _, o := range p.options {
			name += "[:" + o + "]"
		}
		all = append(all, name)
	}
	return all
}

// written returns the names in the forms that users write, from which the function nearest chooses.
func written() []string {
	var all []string
	for _, b := range bases {
		for _, s := range sizing.Names() {
			all = append(all, b.name+"+"+s)
		}
	}
	for _, p := range sized {
		all = append(all, p.name)
		for _, o := range p.options {
			if o != patience {
				all = append(all, p.name+":"+o)
			}
		}
	}
	for _, p := range patients {
		all = append(all, p.name)
	}
	return all
}

// sizedHelp returns a line for each policy.
func sizedHelp() string {
	var text strings.Builder
	for _, b := range bases {
		text.WriteString(line(b.name+"+SIZING", b.help+strings.Join(sizing.Names(), ", ")))
	}
	for _, p := range sized {
		text.WriteString(line(p.name, p.help))
	}
	text.WriteString("SIZING:\n")
	for _, name := range sizing.Names() {
		_, help := sizing.Named(name)
		text.WriteString(line(name, help))
	}
	return text.String()
}

// sizedNamed returns the policy with a name from the tables in this file, or nil if there is none.
func sizedNamed(name string, order sched.Order) (sched.Policy, error) {
	made, err := parseSized(name)
	if made != nil && order != sched.FirstCome {
		return nil, ownOrder(name, order)
	}
	return made, err
}

func parseSized(name string) (sched.Policy, error) {
	if base, rule, plus := strings.Cut(name, "+"); plus {
		for _, b := range bases {
			if s, _ := sizing.Named(rule); b.name == base && s != nil {
				return b.make(s), nil
			}
		}
		return nil, nil
	}
	words := strings.Split(name, ":")
	for _, p := range sized {
		if p.name == words[0] {
			o, err := readOptions(p.options, words[1:])
			if err != nil {
				return nil, fmt.Errorf("policy %s: %w", core.Shown(name), err)
			}
			return p.make(o), nil
		}
	}
	return nil, nil
}

// readOptions parses the parts after a name. Each may occur once.
func readOptions(known, words []string) (options, error) {
	o := options{words: words}
	for i, word := range words {
		if slices.Contains(words[:i], word) {
			return o, fmt.Errorf("%s is given twice", core.Shown(word))
		}
		if slices.Contains(known, word) && word != patience {
			continue
		}
		if known[0] == patience {
			d, ok := core.ParseDuration(word)
			if o.patience > 0 {
				return o, fmt.Errorf("%s is a second duration", core.Shown(word))
			}
			if !ok || d == 0 {
				return o, fmt.Errorf("%s is not a duration above 0 such as 96h or 7d", core.Shown(word))
			}
			o.patience = d
			continue
		}
		hint := ""
		if n := nearest(word, known); n != "" {
			hint = "; did you mean " + n + "?"
		}
		return o, fmt.Errorf("%s is not one of %s%s", core.Shown(word), strings.Join(known, ", "), hint)
	}
	return o, nil
}

// Predicts reports whether a policy uses statistics of jobs to come.
func Predicts(p sched.Policy) bool {
	load, by := SizingOf(p).(sizing.Load)
	return by && !load.Blind
}

// Knowing returns the policy with statistics of jobs to come, if it sizes by load and would otherwise learn them.
func (p Policy) Knowing(s *sizing.Statistics) Policy {
	if !Predicts(p) {
		return p
	}
	load := SizingOf(p).(sizing.Load)
	load.Known = s.Forecast()
	if policy, is := p.Policy.(easy.EASY); is {
		policy.Sizing = load
		p.Policy = policy
	} else {
		p.Policy = withSizing(p.Policy, load)
	}
	return p
}
