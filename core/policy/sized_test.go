package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"accordion/core/sched"
	"accordion/core/sizing"
	"accordion/core/sizing/easy"
)

func TestSizedPoliciesAreFoundByTheirNames(t *testing.T) {
	class, top := easy.Order{By: easy.Class}, easy.Order{By: easy.Class, Aging: easy.ToTop}
	blind := sizing.Load{Ideal: .9, Delta: .02, Bad: 3, Blind: true, Beyond: true}
	for name, want := range map[string]sched.Policy{
		"easy+share":                easy.EASY{Sizing: sizing.Share{}},
		"easy+least":                easy.EASY{Sizing: sizing.Least{}},
		"repeated+share":            sched.Repeated{Sizing: sizing.Share{}},
		"repeated+reference":        sched.Repeated{Sizing: sizing.Reference{}},
		"repeated+load":             sched.Repeated{Sizing: sizing.Scojo()},
		"traditional":               easy.Traditional{Order: class},
		"traditional:top":           easy.Traditional{Order: top},
		"scojo-p":                   easy.EASY{Sizing: sizing.Scojo(), Floor: sizing.AsListed, Order: class, Remembers: true},
		"scojo-p:nonpredictive:top": easy.EASY{Sizing: blind, Floor: sizing.AsListed, Order: top, Remembers: true},
		"cirne-berman":              easy.CirneBerman{Order: class},
		"cirne-berman:top:opt":      easy.CirneBerman{Order: top, Top: easy.ToReference},
		"share":                     easy.EASY{Sizing: sizing.Share{}, Order: easy.Order{By: easy.Work}},
		"share:168h":                easy.EASY{Sizing: sizing.Share{}, Order: easy.Order{By: easy.Work, Patience: 168 * 3600}},
	} {
		got, err := Named(name, sched.FirstCome)
		if d := cmp.Diff(want, got.Policy, cmpopts.IgnoreUnexported(sizing.Forecast{})); err != nil || d != "" || got.Name != name || RigidOnly(got) {
			t.Errorf("%s: %v, %v\n%s", name, got.Name, err, d)
		}
		if _, err := Named(name, sched.ShortestFirst); err == nil || !strings.Contains(err.Error(), "leave out --order sjf") {
			t.Errorf("%s in another order: %v", name, err)
		}
	}
}

func TestMisspelledSizedPolicyErrorSuggestsTheNearestName(t *testing.T) {
	for name, want := range map[string]string{
		"easy+shar":       "did you mean easy+share?",
		"easy+":           "did you mean easy?",
		"fcfs+share":      "did you mean easy+share?",
		"scojo":           "did you mean scojo-p?",
		"cirne_berman":    "did you mean cirne-berman?",
		"scojo-p:tip":     `policy "scojo-p:tip": "tip" is not one of nonpredictive, top; did you mean top?`,
		"scojo-p:top:top": `policy "scojo-p:top:top": "top" is given twice`,
		"traditional:opt": `policy "traditional:opt": "opt" is not one of top`,
		"share:168":       `policy "share:168": "168" is not a duration above 0 such as 96h or 7d`,
		"share:0s":        `policy "share:0s": "0s" is not a duration above 0 such as 96h or 7d`,
		"share:PATIENCE":  `is not a duration above 0`,
		"share:1h:2h":     `"2h" is a second duration`,
		"traditionel":     "did you mean traditional?",
	} {
		if p, err := Named(name, sched.FirstCome); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %s", name, p.Policy, err, want)
		}
	}
}

func TestHelpNamesEverySizing(t *testing.T) {
	for _, name := range append(sizing.Names(), "easy+SIZING", "repeated+SIZING", "traditional", "scojo-p", "cirne-berman", "share") {
		if !strings.Contains(Help(), "  "+name) {
			t.Errorf("no line of help begins with %s:\n%s", name, Help())
		}
	}
}

func TestStatisticsReachPoliciesThatSizeByLoad(t *testing.T) {
	var s sizing.Statistics
	s.Arrivals[0][0] = 1
	for name, want := range map[string]bool{"scojo-p": true, "easy+load": true, "repeated+load": true, "scojo-p:nonpredictive": false, "share": false, "easy": false} {
		p, err := Named(name, sched.FirstCome)
		if err != nil {
			t.Fatal(err)
		}
		var rule sizing.Sizing
		switch p := p.Knowing(&s).Policy.(type) {
		case easy.EASY:
			rule = p.Sizing
		case sched.Repeated:
			rule = p.Sizing
		}
		if load, is := rule.(sizing.Load); (is && load.Known != nil) != want {
			t.Errorf("%s knows: %v", name, !want)
		}
	}
}
