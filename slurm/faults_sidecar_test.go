package slurm_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"accordion/internal/lab"
)

// smallDisk puts the lab's journal on a file system of two megabytes.
func smallDisk(t *testing.T, lab *lab.SlurmLab) string {
	t.Helper()
	dir := filepath.Join(lab.Dir, "journal")
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("no file system can be mounted here (%v): a full disk cannot be made", err)
	}
	t.Cleanup(func() { // this runs before the lab ends and removes the directory
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill writes a file until the disk has no room left.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{64 << 10, 512} { // small writes fill the last free pages
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
}

// The test also starts a second sidecar, as an administrator might by mistake: once with the first one's
// configuration, and once with a journal and socket of its own.
func TestAFullDiskUnderTheJournalStopsTheSidecarAndNoJob(t *testing.T) {
	t.Parallel()
	lab := faultLab(t, 6)
	dir := smallDisk(t, lab)
	p := serving(t, lab, "")
	// A call of `accordion step` gives up after ten seconds without a sidecar, and on a slow machine two
	// starts of a sidecar take longer.
	job := lab.Submit(t, "alice", "#!/bin/bash\n#EP 2x10s,4x10s,1x10s\nuntil [ -e served ]; do sleep 0.1; done\n"+stepScript(3, 9))
	awaitEvent(t, p, job, "started", 2*time.Minute)

	other := filepath.Join(lab.Dir, "etc", "other.toml")
	text, err := os.ReadFile(p.config)
	if err == nil {
		own := strings.NewReplacer("journal.db", "other.db", "accordion.sock", "other.sock").Replace(string(text))
		err = os.WriteFile(other, []byte(own), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, config := range []string{p.config, other} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		second := exec.CommandContext(ctx, filepath.Join(lab.Dir, "bin", "accordion"), "serve", "--config", config)
		second.Env = lab.Env()
		words, err := second.CombinedOutput()
		if cancel(); err == nil || !strings.Contains(string(words), fmt.Sprintf("process %d", p.pid)) {
			t.Errorf("a second sidecar with %s (%v) does not name process %d: %s", config, err, p.pid, words)
		}
	}
	select {
	case <-p.ended:
		t.Fatal("the first sidecar ended because of the second")
	default:
	}

	fill(t, filepath.Join(dir, "full"))
	select {
	case <-p.ended:
	case <-time.After(2 * time.Minute):
		t.Fatal("the sidecar goes on though its journal cannot be written")
	}
	if log, _ := os.ReadFile(p.log); !strings.Contains(string(log), "full") || !strings.Contains(string(log), "running jobs run on") {
		t.Errorf("its last output does not say what is wrong: %s", tail(string(log), 3))
	}
	if got := runClient(t, lab, "squeue", "-h", "-j", job, "-o", "%T"); got != "RUNNING" {
		t.Errorf("without a sidecar the job is %s, want RUNNING", got)
	}
	if err := os.Remove(filepath.Join(dir, "full")); err != nil {
		t.Fatal(err)
	}
	p.start()
	p.endBy(syscall.SIGKILL)
	p.start() // the lock on the cluster was released when the process ended
	lab.Run(t, "alice", "touch", "served")
	awaitEnded(t, lab, 3*time.Minute, job)
	if got := stepOutput(lab, job); got != expectedOutput(2, 4, 1) {
		t.Errorf("%q, want %q", got, expectedOutput(2, 4, 1))
	}
	assertClean(t, p)
}
