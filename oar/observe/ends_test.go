package observe

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"accordion/oar/database/databasetest"
)

func TestReasonForTheEndOfAJobIsNotAChangeOfItsWalltime(t *testing.T) {
	const changed = " walltime changed: 0:4:7 (granted: +0:0:45/pending: 0:0:0)" // as OAR 2.6 writes it
	for _, c := range []struct{ name, first, second, want string }{
		{"a user ends it just before its walltime is changed", "FRAG_JOB_REQUEST User alice requested to frag the job 31", "WALLTIME" + changed, "Error: User alice requested to frag the job 31"},
		{"its walltime is over after it was changed", "WALLTIME" + changed, "WALLTIME [sarko] Job [31] (Elapsed)", "Error: [sarko] Job [31] (Elapsed)"},
		{"only its walltime is changed", "WALLTIME" + changed, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := databasetest.New(t)
			for _, event := range []string{c.first, c.second} {
				if event != "" {
					kind, text, _ := strings.Cut(event, " ")
					s.Do(fmt.Sprintf("INSERT INTO event_logs (type, job_id, date, description, to_check) VALUES ('%s', 31, 1, '%s', 'NO')", kind, text))
				}
			}
			r := &Job{OARState: "Error"}
			if err := s.DB.Change(t.Context(), func(tx *sql.Tx) error {
				return (&Reader{}).readEnds(t.Context(), tx, map[int64]*Job{31: r})
			}); err != nil {
				t.Fatal(err)
			}
			if r.Why != c.want {
				t.Errorf("it ended because of %q, want %q", r.Why, c.want)
			}
		})
	}
}
