package moldable

import (
	"strings"

	"accordion/core"
)

// Tidy returns configurations or a model that a user wrote loosely, in the form that Parse reads. Loose forms are
// "4 x 2h | 8X1.5h" and "Amdahl: p=0.9, t1=1.5h, nodes=1-8". Tidy returns text that it does not understand unchanged.
func Tidy(text string) string {
	if model := strings.ToLower(strings.Join(strings.Fields(text), "")); isModel(model) {
		word, rest, _ := strings.Cut(model, ":")
		pieces := strings.Split(rest, ",")
		for i, piece := range pieces {
			if t1, ok := strings.CutPrefix(piece, "t1="); ok {
				pieces[i] = "t1=" + core.TidyDuration(t1)
			}
		}
		return word + ":" + strings.Join(pieces, ",")
	}
	return tidy(text, "|")
}

// TidyProfiles returns alternatives of profiles that a user wrote loosely in the form that ParseProfiles reads.
func TidyProfiles(text string) string {
	all := strings.Split(text, "|")
	for i := range all {
		all[i] = tidy(all[i], ",")
	}
	return strings.Join(all, "|")
}

// tidy applies core.TidyStep to each step between separators.
func tidy(text, between string) string {
	steps := strings.Split(text, between)
	for i := range steps {
		steps[i] = core.TidyStep(steps[i])
	}
	return strings.Join(steps, between)
}
