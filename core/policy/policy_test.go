package policy

import (
	"slices"
	"strings"
	"testing"

	"accordion/core/ep"
	"accordion/core/sched"
)

func TestUnknownPolicyErrorSuggestsTheNearestName(t *testing.T) {
	const known = "fcfs, easy, conservative, repeated, evolving:ALG, moldable, easy-evolving[:rN][+SIZING], patient[:PATIENCE][:xN][:rN][+SIZING], malleable[:PATIENCE][:xN][:to-reference], easy+SIZING, repeated+SIZING, " +
		"traditional[:top], scojo-p[:nonpredictive][:top], cirne-berman[:opt][:top], share[:PATIENCE]"
	for name, want := range map[string]string{
		"esay":         `policy "esay" is not one of ` + known + `; did you mean easy?`,
		"consrvative":  `policy "consrvative" is not one of ` + known + `; did you mean conservative?`,
		"EASY":         `policy "EASY" is not one of ` + known,
		"":             `policy "" is not one of ` + known,
		"evolving":     `policy "evolving" is not one of ` + known + `; did you mean evolving:ALG?`,
		"evolvin:2X+c": `policy "evolvin:2X+c" is not one of ` + known + `; did you mean evolving:ALG?`,
		"priority":     `policy "priority" is not one of ` + known,
		"patience":     `policy "patience" is not one of ` + known + `; did you mean patient?`,
	} {
		if _, err := Named(name, sched.FirstCome); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

func TestEveryPolicyHasALineOfHelpAndIsFoundByItsName(t *testing.T) {
	for _, e := range table {
		name := e.name
		if e.algorithm {
			name += ":2X+c"
		}
		p, err := Named(name, sched.ShortestFirst)
		if err != nil || p.Name != name || p.AsRequested != e.asRequested || e.help == "" || !strings.Contains(Help(), e.help) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if _, err := Live(e.name, ep.Algorithm{}); (err == nil) != e.live {
			t.Errorf("%s on a live cluster: %v", e.name, err)
		}
	}
	if !slices.Contains(LiveNames(), Default) {
		t.Errorf("the default, %s, plans no live cluster", Default)
	}
}

func TestTheWordsForTheShellAreNames(t *testing.T) {
	words := Words()
	for _, word := range words {
		if _, err := Named(word, sched.FirstCome); err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
	for _, want := range []string{"easy", "patient", "evolving:2X+c", "easy+share", "scojo-p"} {
		if !slices.Contains(words, want) {
			t.Errorf("%s is not among %v", want, words)
		}
	}
}

func TestDistanceCountsLetters(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"easy", "easy", 0}, {"esay", "easy", 2}, {"kitten", "sitting", 3}, {"fcf", "fcfs", 1}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
