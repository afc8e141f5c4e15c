package delegated_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/traces/paper/delegated"
)

// logs is the folder of the real logs: ACCORDION_TRACES, else ../shared/traces beside the repository.
func logs() string {
	if folder := os.Getenv("ACCORDION_TRACES"); folder != "" {
		return folder
	}
	return filepath.Join("..", "..", "..", "..", "shared", "traces")
}

// facts is the folder of the jobs files whose counters an independent program published.
func facts() string { return filepath.Join(logs(), "..", "facts", "delegated") }

// published is one run of such a file.
type published struct {
	Name     string
	File     string
	Counters delegated.Counters
}

func publishedRuns(t testing.TB) []published {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(facts(), "counters.json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the published counters are not in ../facts/delegated beside %s: set ACCORDION_TRACES to the folder of the logs", logs())
	}
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
			jobs := readJobs(t, filepath.Join(facts(), p.File))
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
