package slurm_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/slurm/output"
)

// otherHost returns a sidecar of the same cluster that runs as if it were on another host. It has its own host
// name, journal and folder of locks.
func otherHost(t *testing.T, p *process) *process {
	t.Helper()
	other := &process{t: t, lab: p.lab, config: filepath.Join(p.lab.Dir, "etc", "elsewhere.toml"), log: filepath.Join(p.lab.Dir, "log", "elsewhere.log"),
		within: []string{"unshare", "--mount", "--uts", "sh", "-c",
			"hostname elsewhere && mkdir -p /run/accordion-sidecars && mount -t tmpfs none /run/accordion-sidecars && exec \"$@\"", "sh"}}
	text, err := os.ReadFile(p.config)
	if err == nil {
		own := strings.NewReplacer("journal.db", "elsewhere.db", "accordion.sock", "elsewhere.sock").Replace(string(text))
		err = os.WriteFile(other.config, []byte(own), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	close(ended)
	other.ended = ended
	t.Cleanup(other.stop)
	return other
}

// runRefused starts a sidecar that must end by itself, and returns its last output.
func (p *process) runRefused() string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	words, err := p.command(ctx).CombinedOutput()
	if err == nil || ctx.Err() != nil {
		p.t.Fatalf("the sidecar was not refused (%v): %s", err, words)
	}
	return tail(string(words), 1)
}

// The second sidecar has its own journal, so the first one's file lock cannot stop it. Only the lease can.
func TestASecondSidecarOnAnotherHostIsSeen(t *testing.T) {
	t.Parallel()
	lab := faultLab(t, 3)
	p := serving(t, lab, "[lease]\nlength = \"40s\"")
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	second := otherHost(t, p)
	names := func(who *process, host string, first *process) {
		t.Helper()
		said := who.runRefused()
		for _, word := range []string{"host " + host + " (process ", "journal " + filepath.Join(lab.Dir, "journal"), "until", "--take-over"} {
			if !strings.Contains(said, word) {
				t.Errorf("the second prints %q, want %q in it", said, word)
			}
		}
		select {
		case <-first.ended:
			t.Fatal("the first ended because of the second")
		default:
		}
	}
	names(second, host, p)

	// The lease does not prevent a job from starting or growing, on any node.
	job := submitEvolving(t, lab, 8, []int{1, 3, 1})
	awaitEnded(t, lab, 3*time.Minute, job)

	p.kill()
	begin := time.Now()
	p.start() // a sidecar with the same host and journal gets its lease back immediately
	if took := time.Since(begin); took > 15*time.Second && !*long {
		t.Errorf("started again after kill -9, it served after %v", took)
	}
	names(second, host, p)

	// After the first sidecar was killed, no other sidecar can start until its lease has ended. Then the second
	// sidecar takes the lease, and the first one cannot start.
	p.kill()
	if said := second.runRefused(); !strings.Contains(said, "host "+host) {
		t.Errorf("just after kill -9 of the first the second prints %q", said)
	}
	second.flags = []string{"--take-over"}
	second.start()
	names(p, "elsewhere", second)

	second.stop() // a clean stop ends the lease
	if left := runClient(t, lab, "scontrol", "-o", "show", "reservation"); strings.Contains(left, output.Lease) {
		t.Errorf("the second one has ended, and left %s", left)
	}
	p.start()
	p.kill()
	second.flags = nil
	lab.Await(t, 3*time.Minute, "the lease of the killed one has ended", func() bool {
		return !strings.Contains(runClient(t, lab, "scontrol", "-o", "show", "reservation"), "="+output.Lease+" ")
	})
	second.start()
	second.stop()
	p.start()
	assertClean(t, p)
}
