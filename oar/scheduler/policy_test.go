package scheduler

import (
	"errors"
	"strings"
	"testing"
	"time"

	"accordion/core/policy"
	"accordion/core/sizing"
	"accordion/oar/conf"
)

// counted returns statistics for one path, and fails for all other paths.
func counted(path string) (sizing.File, error) {
	if path != "/etc/counted.json" {
		return sizing.File{}, errors.New(path + ": no such file or directory")
	}
	var f sizing.File
	f.Nodes[0], f.Seconds[0], f.Arrivals[0][0] = 1, 10, 3
	return f, nil
}

// A wrong policy in oar.conf is an error only for a caller that plans, and not for epilogues, which also read oar.conf.
func TestOnlyAPolicyThatPlansAPassIsTaken(t *testing.T) {
	const statistics = "\nACCORDION_STATISTICS=/etc/counted.json"
	for line, want := range map[string]string{
		"": "", "ACCORDION_POLICY=\n": "", `ACCORDION_POLICY="share:168h"`: "", "ACCORDION_POLICY=easy+least": "", "ACCORDION_POLICY=traditional:top": "",
		"ACCORDION_POLICY=repeated+shar":    `did you mean repeated+share?`,
		"ACCORDION_POLICY=scojo":            `did you mean scojo-p?`,
		"ACCORDION_POLICY=cirne-berman:opt": `oar.conf:2: ACCORDION_POLICY: policy "cirne-berman:opt" fixes sizes when jobs are submitted, and is for replays only; take repeated+share`,
		"ACCORDION_POLICY=easy":             `oar.conf:2: ACCORDION_POLICY: policy "easy" does not size moldable jobs, and is for replays only; take repeated+share`,
		"ACCORDION_POLICY=moldable":         "is for replays only",

		"ACCORDION_POLICY=scojo-p" + statistics: "", "ACCORDION_POLICY=repeated+load" + statistics: "", "ACCORDION_POLICY=easy+load" + statistics: "",
		"ACCORDION_POLICY=scojo-p:nonpredictive" + statistics: "oar.conf:3: ACCORDION_STATISTICS: the policy scojo-p:nonpredictive predicts nothing; leave the line out, or take one that does, such as scojo-p or repeated+load",
		statistics: "oar.conf:3: ACCORDION_STATISTICS: the policy repeated+share predicts nothing",
		"ACCORDION_POLICY=repeated+loda" + statistics:                           "did you mean repeated+load?",
		"ACCORDION_POLICY=scojo-p\nACCORDION_STATISTICS=counted.json":           `oar.conf:3: ACCORDION_STATISTICS: "counted.json" is not an absolute path`,
		"ACCORDION_POLICY=scojo-p\nACCORDION_STATISTICS=/no/file":               "oar.conf:3: ACCORDION_STATISTICS: /no/file: no such file or directory",
		"ACCORDION_STATISTICS=\nACCORDION_POLICY=scojo-p:top":                   "",
		"ACCORDION_POLICY=scojo-p\nACCORDION_STATISTICS=''\n#ACCORDION_POLICY=": "",
	} {
		c, err := conf.Parse(strings.NewReader("DB_TYPE=Pg\n"+line+"\n"), "oar.conf")
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		planner, err := Planner(c.Policy, counted)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
		load, _ := policy.SizingOf(planner).(sizing.Load)
		if knows := load.Known != nil; err == nil && knows != strings.Contains(line, statistics) {
			t.Errorf("%s: future jobs are known: %t", line, knows)
		}
	}
}

// Schedule fails before it would connect to a database. This test has no database.
func TestAPassWithoutAPolicyPlansNothing(t *testing.T) {
	for line, want := range map[string]string{
		"ACCORDION_POLICY=shore":                                   `queue evolve: nothing is planned, and jobs keep waiting: oar.conf:2: ACCORDION_POLICY: policy "shore" is not one of`,
		"ACCORDION_POLICY=cirne-berman":                            "queue evolve: nothing is planned, and jobs keep waiting: oar.conf:2: ACCORDION_POLICY: policy \"cirne-berman\" fixes sizes",
		"ACCORDION_POLICY=scojo-p\nACCORDION_STATISTICS=/no/file.": "queue evolve: nothing is planned, and jobs keep waiting: oar.conf:3: ACCORDION_STATISTICS: /no/file.: no such",
	} {
		c, err := conf.Parse(strings.NewReader("DB_TYPE=Pg\n"+line+"\n"), "oar.conf")
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Schedule(t.Context(), c, Pass{Queue: "evolve", Now: 1000, Patience: time.Second, Statistics: counted}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}
