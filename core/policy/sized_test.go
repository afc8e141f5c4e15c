package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"accordion/core/adapt"
	"accordion/core/adaptive"
	"accordion/core/queue"
)

func TestSizedPoliciesAreFoundByTheirNames(t *testing.T) {
	class, top := adaptive.Order{By: adaptive.Class}, adaptive.Order{By: adaptive.Class, Aging: adaptive.ToTop}
	blind := adapt.Load{Ideal: .9, Delta: .02, Bad: 3, Blind: true, Beyond: true}
	for name, want := range map[string]queue.Policy{
		"easy+share":                adaptive.EASY{Sizing: adapt.Share{}},
		"easy+least":                adaptive.EASY{Sizing: adapt.Least{}},
		"repeated+share":            queue.Repeated{Sizing: adapt.Share{}},
		"repeated+reference":        queue.Repeated{Sizing: adapt.Reference{}},
		"repeated+load":             queue.Repeated{Sizing: adapt.Scojo()},
		"traditional":               adaptive.Traditional{Order: class},
		"traditional:top":           adaptive.Traditional{Order: top},
		"scojo-p":                   adaptive.EASY{Sizing: adapt.Scojo(), Floor: adapt.AsListed, Order: class, Remembers: true},
		"scojo-p:nonpredictive:top": adaptive.EASY{Sizing: blind, Floor: adapt.AsListed, Order: top, Remembers: true},
		"cirne-berman":              adaptive.CirneBerman{Order: class},
		"cirne-berman:top:opt":      adaptive.CirneBerman{Order: top, Top: adaptive.ToReference},
		"share":                     adaptive.EASY{Sizing: adapt.Share{}, Order: adaptive.Order{By: adaptive.Work}},
		"share:168h":                adaptive.EASY{Sizing: adapt.Share{}, Order: adaptive.Order{By: adaptive.Work, Patience: 168 * 3600}},
	} {
		got, err := Named(name, queue.FirstCome)
		if d := cmp.Diff(want, got.Policy, cmpopts.IgnoreUnexported(adapt.Forecast{})); err != nil || d != "" || got.Name != name || RigidOnly(got) {
			t.Errorf("%s: %v, %v\n%s", name, got.Name, err, d)
		}
		if _, err := Named(name, queue.ShortestFirst); err == nil || !strings.Contains(err.Error(), "leave out --order sjf") {
			t.Errorf("%s in another order: %v", name, err)
		}
	}
}

func TestAMisspeltSizedPolicyIsToldTheNearestOne(t *testing.T) {
	for name, want := range map[string]string{
		"easy+shar":       "did you mean easy+share?",
		"easy+":           "did you mean easy?",
		"fcfs+share":      "did you mean easy+share?",
		"scojo":           "did you mean scojo-p?",
		"cirne_berman":    "did you mean cirne-berman?",
		"scojo-p:tip":     `policy "scojo-p:tip": "tip" is not one of nonpredictive, top; did you mean top?`,
		"scojo-p:top:top": `policy "scojo-p:top:top": "top" stands there twice`,
		"traditional:opt": `policy "traditional:opt": "opt" is not one of top`,
		"share:168":       `policy "share:168": "168" is not a duration above 0 such as 96h or 7d`,
		"share:0s":        `policy "share:0s": "0s" is not a duration above 0 such as 96h or 7d`,
		"share:PATIENCE":  `is not a duration above 0`,
		"share:1h:2h":     `"2h" is a second duration`,
		"traditionel":     "did you mean traditional?",
	} {
		if p, err := Named(name, queue.FirstCome); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %s", name, p.Policy, err, want)
		}
	}
}

func TestHelpNamesEverySizing(t *testing.T) {
	for _, name := range append(adapt.Names(), "easy+SIZING", "repeated+SIZING", "traditional", "scojo-p", "cirne-berman", "share") {
		if !strings.Contains(Help(), "  "+name) {
			t.Errorf("no line of help begins with %s:\n%s", name, Help())
		}
	}
}

func TestStatisticsAreKnownToThoseThatSizeByLoad(t *testing.T) {
	var s adapt.Statistics
	s.Arrivals[0][0] = 1
	for name, want := range map[string]bool{"scojo-p": true, "easy+load": true, "repeated+load": true, "scojo-p:nonpredictive": false, "share": false, "easy": false} {
		p, err := Named(name, queue.FirstCome)
		if err != nil {
			t.Fatal(err)
		}
		var sizing adapt.Sizing
		switch p := p.Knowing(&s).Policy.(type) {
		case adaptive.EASY:
			sizing = p.Sizing
		case queue.Repeated:
			sizing = p.Sizing
		}
		if load, is := sizing.(adapt.Load); (is && load.Known != nil) != want {
			t.Errorf("%s knows: %v", name, !want)
		}
	}
}
