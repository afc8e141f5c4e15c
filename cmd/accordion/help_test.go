package main

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// everyCommand calls `do` for each command that has its own help.
func everyCommand(do func(c *cobra.Command, path []string)) {
	var visit func(c *cobra.Command, path []string)
	visit = func(c *cobra.Command, path []string) {
		do(c, path)
		for _, sub := range c.Commands() {
			visit(sub, append(slices.Clone(path), sub.Name()))
		}
	}
	visit(accordion(), nil)
}

func TestEveryHelpFitsInto100Columns(t *testing.T) {
	everyCommand(func(c *cobra.Command, path []string) {
		status, help, said := typed(t, strings.Join(append(slices.Clone(path), "--help"), " "))
		if c.DisableFlagParsing && len(path) > 0 {
			status, help, said = typed(t, "help "+strings.Join(path, " "))
		}
		if status != 0 || said != "" || help == "" {
			t.Errorf("accordion %s --help: status %d, %s", strings.Join(path, " "), status, said)
		}
		for line := range strings.SplitSeq(help, "\n") {
			if utf8.RuneCountInString(line) > 100 && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("accordion %s --help: %d columns: %s", strings.Join(path, " "), utf8.RuneCountInString(line), line)
			}
		}
	})
}

func TestEveryHelpHasTwoExamplesThatCanBeTyped(t *testing.T) {
	everyCommand(func(c *cobra.Command, path []string) {
		if c.IsAdditionalHelpTopicCommand() {
			return
		}
		name := strings.Join(append([]string{"accordion"}, path...), " ")
		count := 0
		for line := range strings.SplitSeq(c.Example, "\n") {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "   ") // what follows is a remark
			calls := commandsIn(t, line)
			if len(calls) > 0 {
				count++
			}
			for _, words := range calls {
				if why := wrong(words, false); why != "" && !strings.Contains(why, "unknown command \"LOG") {
					t.Errorf("%s: example %q: %s", name, line, why)
				}
			}
		}
		if count < 2 {
			t.Errorf("%s has %d examples", name, count)
		}
	})
}

func TestExamplesAreOfCommandsThatExist(t *testing.T) {
	known := map[string]bool{}
	everyCommand(func(_ *cobra.Command, path []string) { known[strings.Join(path, " ")] = true })
	for path := range examples {
		if !known[path] && path != "audit" {
			t.Errorf("examples of %q, which is no command", path)
		}
	}
}

func TestLongTablesAreTopicsOfHelp(t *testing.T) {
	for _, topic := range []string{"policies", "shapes"} {
		if status, help, _ := typed(t, "help "+topic); status != 0 || !strings.Contains(help, map[string]string{"policies": "  easy-evolving  ", "shapes": "  ramp-down  "}[topic]) {
			t.Errorf("help %s: status %d, %s", topic, status, help)
		}
	}
	if _, help, _ := typed(t, "compare --help"); strings.Contains(help, "easy-evolving    EASY") {
		t.Errorf("compare --help has the table of policies")
	}
	if _, help, _ := typed(t, "--help"); !strings.Contains(help, "More help (accordion help TOPIC):\n  policies ") {
		t.Errorf("accordion --help does not name the topics:\n%s", help)
	}
}

func TestALongWordOfATableStaysWhole(t *testing.T) {
	_, help, _ := typed(t, "trace from-sacct --help")
	if !strings.Contains(help, "\n    --format=JobIDRaw,") || strings.Contains(help, "xxx") {
		t.Errorf("the columns that sacct prints are not in a line of their own:\n%s", help)
	}
}
