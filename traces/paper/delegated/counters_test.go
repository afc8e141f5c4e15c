package delegated_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/internal/testenv"
	"accordion/traces/paper/delegated"
)

// facts returns the folder of the jobs files for which an independent program published counters.
func facts(t testing.TB) string {
	t.Helper()
	const folder = "../facts/delegated"
	return filepath.Join(testenv.Logs(t, folder), folder)
}

// published is one run of such a file.
type published struct {
	Name     string
	File     string
	Counters delegated.Counters
}

func publishedRuns(t testing.TB) []published {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(facts(t), "counters.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []published
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func readJobs(t testing.TB, path string) []delegated.Job {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	jobs, err := delegated.Read(file, path)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

func (p published) setup() delegated.Setup {
	c := p.Counters
	return delegated.Setup{RMS: c.RMS, Clusters: c.Clusters, FairStart: c.FairStart, Timer: c.Timer, Plain: true}
}

func TestEveryPublishedCounterIsMet(t *testing.T) {
	for _, p := range publishedRuns(t) {
		t.Run(p.Name, func(t *testing.T) {
			jobs := readJobs(t, filepath.Join(facts(t), p.File))
			got, err := p.setup().Run(jobs)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(p.Counters, got); d != "" {
				t.Errorf("counters (- published, + ours):\n%s", d)
			}
		})
	}
}
