package scheduler

import (
	"fmt"
	"strings"
	"testing"
)

func TestAConditionIsWhatADatabaseWouldFind(t *testing.T) {
	columns := map[string]columnValues{
		"type":    {textColumn, []string{"default", "default", "licence"}},
		"switch":  {textColumn, []string{"s1", "S2", "s2"}},
		"cluster": {textColumn, []string{"a", "b", ""}},
		"mem":     {numberColumn, []string{"8", "16", ""}},
		"speed":   {otherColumn, []string{"1.5", "2", "3"}},
	}
	for _, c := range []struct{ text, want string }{ // which of the three resources match; "ask": only the database knows
		{"1=1", "1 1 1"},
		{"(1 = 1) AND (1 = 0)", "0 0 0"},
		{"(1 = 1) AND (type = 'default')", "1 1 0"},
		{"((cluster = 'a') AND type='default') AND mem >= 8", "1 0 0"},
		{"cluster = 'a' or mem > 8 and type = 'licence'", "1 0 0"},
		{"(cluster = 'a' OR mem > 8) AND type = 'default'", "1 1 0"},
		{"cluster IN ('a', 'c') OR mem in (16,17)", "1 1 0"},
		{"mem <> 8", "0 1 0"},
		{"mem != '8'", "0 1 0"},
		{"type <> 'default'", "0 0 1"},
		{"TYPE = 'licence'", "0 0 1"},
		{"switch = 's1'", "1 0 0"},
		{"switch = 's2'", "ask"},  // MariaDB ignores case, and so matches both
		{"cluster <> 'a'", "ask"}, // the value may be NULL or empty
		{"cluster = ''", "ask"},
		{"cluster = 'A'", "ask"},
		{"cluster = 'é'", "ask"},
		{"cluster < 'b'", "ask"},
		{"cluster = 1", "ask"},
		{"mem = '08'", "ask"},
		{"mem = 'x'", "ask"},
		{"speed = 2", "ask"},
		{"rack = 'r1'", "ask"},
		{"mem = 9999999999", "ask"},
		{"NOT (type = 'default')", "ask"},
		{"type LIKE 'd%'", "ask"},
		{"type = 'it''s'", "ask"},
		{"type = 'a\\'", "ask"},
		{"type = 'default' --", "ask"},
		{"pg_sleep(1) is null", "ask"},
		{"(select 1) = 1", "ask"},
		{"1 = 1) OR (1 = 1", "ask"},
		{"type = cluster", "ask"},
		{"type = 'default' AND", "ask"},
		{"", "ask"},
		{"type", "ask"},
		{"type IN ()", "ask"},
		{"type IN ('a'", "ask"},
		{"1 =", "ask"},
		{strings.Repeat("(", 21) + "1=1" + strings.Repeat(")", 21), "ask"},
		{strings.Repeat("1=1 AND ", 1000) + "1=1", "ask"},
	} {
		got := "ask"
		if means, is := parseCondition(c.text); is {
			if met, exact := means.meets(3, columns); exact {
				var all []string
				for _, yes := range met {
					all = append(all, map[bool]string{true: "1", false: "0"}[yes])
				}
				got = strings.Join(all, " ")
			}
		}
		if got != c.want {
			t.Errorf("%.60q: %s, want %s", c.text, got, c.want)
		}
	}
}

func FuzzCondition(f *testing.F) {
	for _, text := range []string{"1=1", "(a = 'b') AND c IN (1, 2) OR d <> 3", "((", "'", "a = "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		means, is := parseCondition(text)
		if !is {
			return
		}
		columns := map[string]columnValues{}
		for i, name := range means.columns() {
			columns[name] = columnValues{columnKind(i % 3), []string{"", "1", fmt.Sprint(i)}}
		}
		if met, exact := means.meets(3, columns); exact && len(met) != 3 {
			t.Errorf("%q: %v", text, met)
		}
	})
}
