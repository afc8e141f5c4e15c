package oar

import (
	"accordion/oar/database"
	"accordion/oar/setup"
)

const isLive = database.IsLive

// RuleTexts returns the admission rules of a queue in the order of their priorities, for tests that run them in Perl.
func RuleTexts(queue string) (texts []string) {
	for _, r := range setup.Rules(queue) {
		texts = append(texts, r.Text)
	}
	return texts
}
