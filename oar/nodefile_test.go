package oar

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The files that OAR makes for a job on the job's first node. If OAR makes cpusets, there is an .env file too.
var (
	withCpusets = []string{"10", "10_resources", "alice_10.env", "10.accordion", "110", "alice_110.env"}
	without     = []string{"10", "10_resources", "10.accordion", "110"}
)

func TestANodeFileIsReplacedWholeAndOnlyForAJobThatIsThere(t *testing.T) {
	const text = "n1\nn2\n"
	for _, c := range []struct {
		name  string
		files []string
		sends string
		gone  []string // files that OAR removes after the script has begun
		want  []string // files that are left of the job
	}{
		{"a job in a cpuset", withCpusets, text, nil, []string{"10", "10_resources", "alice_10.env"}},
		{"a job without", without, text, nil, []string{"10", "10_resources"}},
		{"who sends it is killed", withCpusets, "n1\n", nil, []string{"10", "10.accordion", "10_resources", "alice_10.env"}},
		{"the job in a cpuset ends meanwhile", withCpusets, text, []string{"alice_10.env", "10", "10_resources"}, nil},
		{"… and OAR has just begun to clean up", withCpusets, text, []string{"alice_10.env"}, []string{"10_resources"}},
		{"… or is in the middle", withCpusets, text, []string{"alice_10.env", "10"}, []string{"10_resources"}},
		{"the job without ends meanwhile", without, text, []string{"10", "10_resources"}, nil},
		{"the job is over", []string{"10.accordion"}, text, nil, []string{"10.accordion"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range c.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("n1\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			script := exec.CommandContext(t.Context(), "sh", "-c", "echo begins; "+writeNodes, "sh", "10", dir, strconv.Itoa(len(text)))
			send, err1 := script.StdinPipe()
			said, err2 := script.StdoutPipe()
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			if err := script.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := said.Read(make([]byte, 16)); err != nil { // wait until the script has begun
				t.Fatal(err)
			}
			if len(c.files) > 1 {
				awaitFile(t, filepath.Join(dir, "10.accordion-next")) // wait until the script has made its checks and waits for the text
			}
			for _, name := range c.gone {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := send.Write([]byte(c.sends)); err != nil && len(c.files) > 1 {
				t.Fatal(err)
			}
			send.Close()
			if err := script.Wait(); (err != nil) != (c.sends != text) {
				t.Errorf("the script: %v", err)
			}
			var left []string
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if !strings.Contains(e.Name(), "110") {
					left = append(left, e.Name())
				}
			}
			if !slices.Equal(left, c.want) {
				t.Errorf("of the job there is left %v, want %v", left, c.want)
			}
			if file, err := os.ReadFile(filepath.Join(dir, "10")); err == nil && c.sends == text && string(file) != text {
				t.Errorf("its nodes are %q", file)
			}
		})
	}
}

// awaitFile waits until there is a file of that name.
func awaitFile(t *testing.T, name string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // polls, because there is no event for a new file
		if _, err := os.Stat(name); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s never came", name)
		}
	}
}
