package hooks

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheNodesOfAFirstStepTakeThePlaceOfTheBasesBeforeTheCommandBegins(t *testing.T) {
	file := filepath.Join(t.TempDir(), "7")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "n1\n")
	for _, c := range []struct{ coming, want string }{
		{"", "n1\n"}, // an ordinary job
		{"n1\nn2\n", "n1\nn2\n"},
		{"", "n1\nn2\n"}, // asked again
	} {
		if c.coming != "" {
			write(file+ComingNodes, c.coming)
		}
		if err := Prologue(file); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != c.want {
			t.Errorf("the node file has %q, %v; want %q", got, err, c.want)
		}
		if _, err := os.Stat(file + ComingNodes); !os.IsNotExist(err) {
			t.Errorf("what the sidecar left is still there: %v", err)
		}
	}
	if err := os.Mkdir(file+ComingNodes, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Prologue(file); err == nil {
		t.Error("a directory took the place of the node file")
	}
}
