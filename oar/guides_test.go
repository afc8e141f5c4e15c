package oar_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"

	"github.com/kballard/go-shellquote"
)

var (
	calls  = regexp.MustCompile("(?m)(?:^    |`)(oarsub [^`\n…]*-t ep[^`\n…]*)")
	number = regexp.MustCompile(`OAR_JOB_ID=([0-9]+)`)
)

// A real oarsub accepts every oarsub command with a profile in the guides. The first job of docs/oar.md has two hosts and then five.
func TestCommandsOfTheGuidesOnARealOAR(t *testing.T) {
	t.Parallel()
	lab := lab.OAR(t, 16, lab.Users("alice"))
	lab.Do(t, "serve")
	t.Cleanup(func() { checkAudit(t, lab) })
	t.Cleanup(func() { showSidecarLog(t, lab) })
	guide, err := os.ReadFile("../docs/oar.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)oar-lab exec -- (oarsub .*?[^\\])\n`).FindStringSubmatch(string(guide))
	if found == nil {
		t.Fatal("docs/oar.md submits no job")
	}
	first := submitted(t, lab, strings.ReplaceAll(found[1], "\\\n", " "))
	shown := 0
	for _, guide := range []string{"docs/oar.md", "docs/faq.md"} {
		text, err := os.ReadFile(filepath.Join("..", guide))
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range calls.FindAllStringSubmatch(string(text), -1) {
			shown++
			lab.Run(t, "alice", "oardel", submitted(t, lab, strings.ReplaceAll(call[1], "./job.sh", "true")))
		}
	}
	if shown < 3 {
		t.Errorf("the guides show only %d calls of oarsub with a profile", shown)
	}
	lab.Await(t, 4*time.Minute, "the first job has ended", func() bool { return lab.State(t, first) == "Terminated" })
	hosts := strings.Fields(lab.Run(t, "alice", "sh", "-c", "cat OAR."+first+".stdout"))
	if len(hosts) != 2+5 { // lines of uniq's output in the first and in the second step
		t.Errorf("docs/oar.md's job was on 2 and then on 5 hosts? %q", hosts)
	}
}

// submitted runs a line in alice's shell, and returns the number of the job.
func submitted(t *testing.T, lab *lab.OARLab, line string) string {
	t.Helper()
	words, err := shellquote.Split(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	said := lab.Run(t, "alice", words...)
	id := number.FindStringSubmatch(said)
	if id == nil {
		t.Fatalf("%s: %s", line, said)
	}
	return id[1]
}
