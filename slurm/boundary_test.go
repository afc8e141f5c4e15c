package slurm_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// printShellState is the part of a job script that prints how the last command ended and what the shell sees then.
const printShellState = `
say() { echo "$1 status=$2 nodes=$SLURM_JOB_NODELIST count=$SLURM_NNODES tasks=$SLURM_NTASKS step=$ACCORDION_STEP"; }
`

// parseShellState returns the output of printShellState, by label.
func parseShellState(output string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(output) {
		if word, rest, found := strings.Cut(strings.TrimSpace(line), " status="); found {
			all[word] = "status=" + rest
		}
	}
	return all
}

func TestAtTheStepsBoundaryAnApplicationHasItsWayWithinItsRights(t *testing.T) {
	t.Parallel()
	lab := quickLab(t)
	p := serving(t, lab, "[early]\nadvance = false")
	submit := func(ep, script string) string {
		nodes, _, _ := strings.Cut(ep, "x")
		return lab.Submit(t, "alice", printShellState+script, "-H", "-N"+nodes, "-n"+nodes, "-t5", "--comment=ep="+ep)
	}
	patient := submit("1x15s,2x5s", `eval "$(accordion step --timeout 2s)"; say impatient $?; eval "$(accordion step)"; say patient $?`)
	keeper := submit("3x6s,2x6s", `eval "$(accordion step --keep "$(scontrol show hostnames | tail -1)")"; say keep $?; sleep 3`)
	giver := submit("3x6s,2x6s", `eval "$(accordion step --release "$(scontrol show hostnames | head -2 | tail -1)")"; say release $?; sleep 3`)
	grasper := submit("2x6s,1x6s", `eval "$(accordion step --release "$SLURMD_NODENAME")"; say host $?; eval "$(accordion step --keep n999)"; say stranger $?; `+
		`eval "$(accordion step)"; say plain $?; eval "$(accordion step)"; say over $?`)
	lab.Run(t, "alice", "rm", "-f", "go") // of an earlier run
	orphan := submit("2x90s,3x5s", `say begin 0; until [ -e go ]; do sleep 0.1; done; eval "$(accordion step)"; say orphan $?`)

	says := func(job, word string) string {
		t.Helper()
		lab.Await(t, 2*time.Minute, "job "+job+" says "+word, func() bool { return parseShellState(outputOf(lab, "alice", job))[word] != "" })
		return parseShellState(outputOf(lab, "alice", job))[word]
	}
	held := func(job string, step int) []string { // steps count from 0, as in the journal
		t.Helper()
		events := p.events(job, "started", "grew", "shrank")
		if len(events) <= step {
			t.Fatalf("job %s: the journal has %d sizes only", job, len(events))
		}
		return nodeNames(t, fmt.Sprint(events[step].Args["nodes"]))
	}
	is := func(job, word, want string) {
		t.Helper()
		if got := says(job, word); got != want {
			t.Errorf("%s: the job says %q, want %q\n%s", word, got, want, outputOf(lab, "alice", job))
		}
	}

	says(orphan, "begin")
	_, said, err := lab.Exec("bob", "", "env", "SLURM_JOB_ID="+orphan, "accordion", "step", "--timeout", "5s")
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(said, "job "+orphan+" is not yours") {
		t.Errorf("another user's step ended with %v and said %q", err, said)
	}

	first := says(patient, "impatient") // the job keeps its size while it waits
	is(patient, "impatient", fmt.Sprintf("status=3 nodes=%s count=1 tasks=1 step=1", held(patient, 0)[0]))
	if second := says(patient, "patient"); !strings.HasPrefix(second, "status=0 ") || !strings.HasSuffix(second, " count=2 tasks=2 step=2") {
		t.Errorf("after %q the job says %q", first, second)
	}

	before := sortedNames(held(keeper, 0))
	is(keeper, "keep", fmt.Sprintf("status=0 nodes=%s count=2 tasks=2 step=2", sorted(t, before[0]+","+before[2])))
	before = sortedNames(held(giver, 0))
	is(giver, "release", fmt.Sprintf("status=0 nodes=%s count=2 tasks=2 step=2", sorted(t, before[0]+","+before[2])))
	before = sortedNames(held(grasper, 0))
	for _, word := range []string{"host", "stranger"} {
		is(grasper, word, fmt.Sprintf("status=1 nodes=%s count=2 tasks=2 step=1", sorted(t, strings.Join(before, ","))))
	}
	is(grasper, "plain", fmt.Sprintf("status=0 nodes=%s count=1 tasks=1 step=2", before[0]))
	is(grasper, "over", fmt.Sprintf("status=1 nodes=%s count=1 tasks=1 step=2", before[0]))

	p.kill()
	if err := os.WriteFile(filepath.Join(lab.Dir, "home", "alice", "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	alone := says(orphan, "orphan")
	list := sorted(t, runClient(t, lab, "sacct", "-n", "-X", "-P", "-j", orphan, "-o", "NodeList"))
	if want := fmt.Sprintf("status=4 nodes=%s count=2 tasks=2", list); !strings.HasPrefix(alone, want) {
		t.Errorf("without a sidecar the job says %q, want %q…", alone, want)
	}
	p.start()
	assertClean(t, p)
}

// sortedNames returns the names in natural order. Slurm orders a job's nodes in this way, and here the script runs on
// the first.
func sortedNames(all []string) []string {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return all
}

// frame returns a message of the shim's protocol: the length of the body, then the body in msgpack.
func frame(body string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(body)))) + body
}

func TestABadFrameIsRefusedAndLoggedAndOtherSessionsGoOn(t *testing.T) {
	t.Parallel()
	lab := quickLab(t)
	p := serving(t, lab, "[early]\nadvance = false")
	job := lab.Submit(t, "alice", printShellState+`say begin 0; eval "$(accordion step)"; say end $?`, "-H", "-N1", "-n1", "-t5", "--comment=ep=1x8s,2x5s")
	lab.Await(t, time.Minute, "the job asks for its second step", func() bool { return parseShellState(outputOf(lab, "alice", job))["begin"] != "" })
	refused := 0 // at most five refusals a minute are logged for one user
	for name, test := range map[string]struct{ bytes, says string }{
		"too long":        {"\xff\xff\xff\xff" + strings.Repeat("x", 1000), "4294967295 bytes"},
		"truncated":       {"\x00\x00\x01\x00\x82\xa1v\x01", "truncated"},
		"another version": {frame("\x82\xa1v\x63\xa3job\x01"), "version 99"},
		"no version":      {frame("\x81\xa3job\x01"), "version 0"},
		"not msgpack":     {frame("GET / HTTP/1.1\r\n\r\n"), "malformed"},
		"an unknown word": {frame("\x83\xa1v\x01\xa3job\x01\xa4sudo\x01"), "malformed"},
		"a strange job":   {frame("\x82\xa1v\x01\xa3job\xff"), "job -1"},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(logged(p))
			conn, err := net.Dial("unix", p.socket())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			if _, err := io.WriteString(conn, test.bytes); err != nil {
				t.Fatal(err)
			}
			if err := conn.(*net.UnixConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			reply, err := io.ReadAll(conn)
			// If the sidecar closes the connection with input unread, the kernel resets the connection.
			if err != nil && len(reply) == 0 {
				t.Fatalf("no reply: %v", err)
			}
			if !strings.Contains(string(reply), "refused") || !strings.Contains(string(reply), test.says) {
				t.Errorf("the reply is %q, want a refusal with %q", reply, test.says)
			}
			if refused++; refused > 5 {
				return
			}
			lab.Await(t, time.Minute, "the log says so", func() bool {
				log := logged(p)[before:]
				return strings.Contains(log, "request refused") && strings.Contains(log, test.says)
			})
		})
	}
	lab.Await(t, time.Minute, "the waiting job got its nodes", func() bool {
		return strings.HasSuffix(parseShellState(outputOf(lab, "alice", job))["end"], " count=2 tasks=2 step=2")
	})
	assertClean(t, p)
}

// logged returns the sidecar's log so far.
func logged(p *process) string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}
