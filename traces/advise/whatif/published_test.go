package whatif

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"accordion/internal/testenv"
	"accordion/traces/advise"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// The test computes the table of docs/advise.md again: for the first log in every run, and for all logs with -accordion.long.
func TestGuideIsRightOnWholeLogs(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "advise.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i, log := range []struct{ name, file string }{
		{"KTH-SP2", "KTH-SP2-1996-2.1-cln"}, {"CTC-SP2", "CTC-SP2-1996-3.1-cln"}, {"LLNL-Atlas", "LLNL-Atlas-2006-2.1-cln"}, {"NASA-iPSC", "NASA-iPSC-1993-3.1-cln"},
		{"HPC2N", "HPC2N-2002-2.2-cln"}, {"CEA-Curie", "CEA-Curie-2011-2.1-cln"},
	} {
		t.Run(log.name, func(t *testing.T) {
			if i > 0 && !*longFlag {
				t.Skip("takes long: -accordion.long")
			}
			name := log.file + ".swf.gz"
			all, err := swf.ReadFile(filepath.Join(testenv.Logs(t, name), name), swf.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range published(t, log.name, all) {
				if !strings.Contains(string(guide), row) {
					t.Errorf("docs/advise.md has no row\n%s", row)
				}
			}
		})
	}
}

// published returns the rows of a log.
func published(t *testing.T, name string, log *swf.Log) (lines []string) {
	t.Helper()
	runs, _ := advise.FromLog(log)
	report := advise.Make(runs, advise.Options{})
	site, err := workload.Selection{}.Select(log)
	if err != nil {
		t.Fatal(err)
	}
	with := Suppose(site, runs, report.Lines(advise.Options{}))
	policies := []string{"patient", "patient+share"}
	r := Compare(cases(site, with, policies...), with.Carries, Bootstrap{Seed: 1})
	for i, policy := range policies {
		head := fmt.Sprintf("| %s | %d | %d of %d | `%s` |", name, len(report.Sizes), with.Carriers(), len(site.Jobs), policy)
		if i > 0 {
			head = fmt.Sprintf("|  |  |  | `%s` |", policy)
		}
		tell, others := &r.Carriers.Rows[2*i+1], &r.Others.Rows[2*i+1]
		alone := func(row *Row, kind Kind) string {
			f := row.Of[kind]
			if f.Alone == nil { // the first policy
				return cell(kind, f.Value, f.Now)
			}
			return cell(kind, f.Value, *f.Alone)
		}
		lines = append(lines, head+alone(tell, Wait)+alone(tell, Turnaround)+alone(tell, Slowdown)+alone(tell, NodeHours)+alone(others, Wait)+alone(others, Slowdown))
	}
	return lines
}

// cell returns a difference in percent, or in seconds for a wait below ten seconds.
func cell(kind Kind, value float64, c Change) string {
	write, of := "%+.1f", c.Share
	scale := 100.0
	if kind == Wait && value-c.By.Value < 10 {
		write, of, scale = "%+.1fs", c.By, 1
	}
	number := func(v float64) string {
		w := write
		if scale == 1 && (v >= 10 || v <= -10) {
			w = "%+.0fs"
		}
		return strings.Replace(fmt.Sprintf(w, scale*v), "-", "−", 1)
	}
	if c.By == (Estimate{Known: true}) {
		return " = |"
	}
	return fmt.Sprintf(" %s (%s to %s) |", number(of.Value), number(of.Low), number(of.High))
}
