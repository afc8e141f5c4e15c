package pass

import (
	"strings"
	"testing"

	"accordion/oar/conf"
)

// A wrong policy is an error for those who plan by it, and for nobody else: OAR's server runs epilogues that read oar.conf, too.
func TestOnlyAPolicyThatPlansAPassIsTaken(t *testing.T) {
	for line, want := range map[string]string{
		"": "", "ACCORDION_POLICY=\n": "", `ACCORDION_POLICY="share:168h"`: "", "ACCORDION_POLICY=easy+least": "", "ACCORDION_POLICY=traditional:top": "",
		"ACCORDION_POLICY=repeated+shar":    `did you mean repeated+share?`,
		"ACCORDION_POLICY=scojo":            `did you mean scojo-p?`,
		"ACCORDION_POLICY=cirne-berman:opt": `oar.conf:2: ACCORDION_POLICY: policy "cirne-berman:opt" fixes sizes when jobs are submitted, and is for replays only; take repeated+share`,
		"ACCORDION_POLICY=easy":             `oar.conf:2: ACCORDION_POLICY: policy "easy" does not size moldable jobs, and is for replays only; take repeated+share`,
		"ACCORDION_POLICY=moldable":         "is for replays only",
	} {
		c, err := conf.Parse(strings.NewReader("DB_TYPE=Pg\n"+line+"\n"), "oar.conf")
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if _, err = Planner(c.Policy); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
