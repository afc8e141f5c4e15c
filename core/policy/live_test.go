package policy

import (
	"strings"
	"testing"

	"accordion/core/ep"
	"accordion/core/sched"
	"accordion/core/sizing"
)

func TestALiveClusterIsSizedByARuleOfItsName(t *testing.T) {
	plain, err := Live(Default, ep.Algorithm{Limit: ep.Twice})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sizing.Names() {
		p, err := WithSizes(plain, name)
		if err != nil || SizesOf(p) != name || (SizingOf(p) == nil) != (name == earliest) || Unsized(p) != plain {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if _, err := WithSizes(plain, "sahre"); err == nil || !strings.Contains(err.Error(), `sizes "sahre" are not one of reference, least, earliest, load, share; did you mean share?`) {
		t.Errorf("misspelt: %v", err)
	}
	for name, floor := range map[string]sizing.Floor{"scojo-p": sizing.AsListed, "traditional": sizing.AsListed, "share": sizing.HalfReference, "repeated+load": sizing.HalfReference} {
		pass, err := Pass(name)
		if err != nil {
			t.Fatal(err)
		}
		if p := SizedAs(plain, pass); SizingOf(p) != SizingOf(pass) || Unsized(p) != plain || FloorOf(pass) != floor || FloorOf(p) != sizing.HalfReference {
			t.Errorf("sized as by %s: %+v", name, p)
		}
	}
	if p, err := WithSizes(plain, DefaultSizes); err != nil || p == plain {
		t.Errorf("by default: %+v, %v", p, err)
	}
}

// Pass returns a policy and its sizing rule for each name that OAR may use. It returns an error for policies
// that are only for replays.
func TestAPassHasAPolicyThatRemembersNothing(t *testing.T) {
	for name, sizes := range map[string]string{
		DefaultPass: "share", "repeated": earliest, "repeated+earliest": earliest, "easy+least": "least", "traditional:top": "reference",
		"scojo-p:nonpredictive": "load", "share:96h": "share", "fcfs": "", "easy": "", "conservative": "", "moldable": "", "evolving:noX": "", "cirne-berman": "",
	} {
		p, err := Pass(name)
		if (err != nil) != (sizes == "") || err == nil && SizesOf(p) != sizes {
			t.Errorf("%s: %+v by %s, %v", name, p, SizesOf(p), err)
		}
	}
	if p, err := Pass("repeated+earliest"); err != nil || p.Policy != sched.Policy(sched.Repeated{}) {
		t.Errorf("what has all that it listed is %+v, %v", p.Policy, err)
	}
}
