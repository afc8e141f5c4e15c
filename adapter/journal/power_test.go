package journal

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// After kill -9 the kernel still has the data that the process wrote. So only a simulated disk that
// loses unsynced data can show whether Begin waits for the disk.
func TestLossOfPowerKeepsEveryIntentThatBeginReturned(t *testing.T) {
	disk := filepath.Join(t.TempDir(), "power.so")
	if out, err := exec.CommandContext(t.Context(), "cc", "-shared", "-fPIC", "-O1", "-o", disk, "testdata/power.c").CombinedOutput(); err != nil {
		t.Fatalf("compiling a disk that loses what was not synced: %v: %s", err, out)
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "j.db")
	for round, lines := range []int{1, 9, 60} {
		syncAll(t, folder)
		cmd := play(t, "write for ever", path)
		cmd.Env = append(cmd.Env, "LD_PRELOAD="+disk)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var said []string
		scanner := bufio.NewScanner(out)
		for len(said) < lines && scanner.Scan() {
			said = append(said, scanner.Text())
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for scanner.Scan() {
			said = append(said, scanner.Text())
		}
		_ = cmd.Wait()
		if len(said) < lines {
			t.Fatalf("round %d: the writer said only %d lines", round, len(said))
		}
		losePower(t, folder)
		j, err := Open(path)
		if err != nil {
			t.Fatalf("round %d: opening after the loss of power: %v", round, err)
		}
		begun, finished := map[int64]bool{}, map[int64]bool{}
		for _, e := range all(t, j, 0) {
			begun[e.ID], finished[e.ID] = true, !e.Unfinished()
		}
		lost := 0
		for _, line := range said {
			what, number, _ := strings.Cut(line, " ")
			id, err := strconv.ParseInt(number, 10, 64)
			if err != nil {
				t.Fatalf("the writer said %q", line)
			}
			if !begun[id] || what == "finished" && !finished[id] {
				lost++
			}
		}
		if lost > 0 {
			t.Errorf("round %d: of %d intents and outcomes that were said to be on the disk, %d are lost with the power", round, len(said), lost)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// syncAll syncs all files of a folder, as the kernel does after a while.
func syncAll(t *testing.T, folder string) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := filepath.Join(folder, f.Name())
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name+".synced", text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// losePower keeps only the synced parts of the files of a folder.
func losePower(t *testing.T, folder string) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := filepath.Join(folder, f.Name())
		if strings.HasSuffix(name, ".synced") {
			continue
		}
		if err := os.Rename(name+".synced", name); errors.Is(err, os.ErrNotExist) {
			err = os.Remove(name)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
