package launch

import (
	"os/exec"
	"testing"
	"time"
)

// The first TERM comes while srun creates its step, and so has no effect.
func TestTERMIsRepeatedToAPartThatIgnoredIt(t *testing.T) {
	t.Parallel()
	m := &process{command: exec.Command("sh", "-c", `trap "trap - TERM" TERM; echo; while :; do sleep 0.1; done`), labels: &labels{}, flush: func() {}}
	out, err := m.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.command.Process.Kill() })
	if _, err := out.Read(make([]byte, 1)); err != nil { // until the trap is set
		t.Fatal(err)
	}
	c := &execution{processes: []*process{m}, running: 1, ended: make(chan partEnd, 1)}
	go func() {
		_ = m.command.Wait() // ProcessState has the status
		c.ended <- partEnd{of: m, status: status(m.command.ProcessState)}
	}()
	begun := time.Now()
	c.end()
	if status := c.await(nil); status != 143 {
		t.Errorf("its status is %d after %v, want that of TERM", status, time.Since(begun))
	}
}
