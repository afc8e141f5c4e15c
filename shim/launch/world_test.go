package launch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/adapter/session"
	"accordion/core/hostlist"
	"accordion/internal/lab"
	"accordion/shim/allocation"
	"accordion/shim/wire"
)

// world is a real Slurm that is configured like a usual cluster. It has no sidecar; the test answers in its place.
type world struct {
	*testing.T
	lab   *lab.SlurmLab
	calls <-chan session.Call
	home  string
}

func newWorld(t *testing.T, options ...lab.Option) *world {
	t.Helper()
	lab := lab.TakeSlurm(t, 8, append(options, lab.Fast(), lab.NoPlugin())...)
	lab.Clear(t)
	server, err := session.Listen(session.Options{Path: filepath.Join(lab.Dir, "run", "accordion.sock")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &world{T: t, lab: lab, calls: server.Calls(), home: filepath.Join(lab.Dir, "home", "alice")}
}

// companion submits a companion of a job on the nodes, as the job's user, with the tasks and GPUs per node in the options.
func (w *world) companion(nodes string, options ...string) allocation.Allocation {
	w.Helper()
	names, err := hostlist.Expand(nodes)
	if err != nil {
		w.Fatal(err)
	}
	name := "beside-" + names[0]
	w.lab.Await(w.T, lab.Patience, "the nodes "+nodes+" are free", func() bool { // on a busy machine Slurm calls idle nodes busy for a moment
		_, _, err := w.lab.Exec("alice", "", append([]string{"salloc", "-Q", "-I", "--no-shell", "-p", "shared", "-t", "20",
			fmt.Sprintf("-N%d", len(names)), "-w", nodes, "-J", name}, options...)...)
		return err == nil
	})
	a := allocation.Allocation{Nodes: names}
	if _, err := fmt.Sscan(w.lab.Run(w.T, "alice", "squeue", "-h", "-t", "R", "-n", name, "-o", "%A"), &a.Job); err != nil {
		w.Fatalf("the companion on %s: %v", nodes, err)
	}
	return a
}

// script is a batch job that executes commands for the test, all in the same shell.
type script struct {
	*world
	id   int64
	own  allocation.Allocation
	said int
}

// reading is a script that repeatedly reads the name of a file from a pipe, executes the file's content, and writes the output and the
// status to files in the same folder.
const reading = `
exec 9<>commands # for writing too: its end is never seen
while read -r name <&9; do
	. ./"$name" >"$name.out" 2>"$name.err"
	echo $? >"$name.part" && mv "$name.part" "$name.status"
done`

// batch submits a job with the script `reading` on the nodes.
func (w *world) batch(nodes string, options ...string) *script {
	w.Helper()
	names, err := hostlist.Expand(nodes)
	if err != nil {
		w.Fatal(err)
	}
	dir := w.lab.Run(w.T, "alice", "mktemp", "-d", filepath.Join(w.home, "job.XXXX"))
	w.lab.Run(w.T, "alice", "mkfifo", filepath.Join(dir, "commands"))
	s := &script{world: w, own: allocation.Allocation{Nodes: names}}
	text := w.lab.Submit(w.T, "alice", reading, append([]string{"-p", "shared", "-t", "20", fmt.Sprintf("-N%d", len(names)), "-w", nodes,
		"--chdir=" + dir, "-o", filepath.Join(dir, "job.out")}, options...)...)
	if _, err := fmt.Sscan(text, &s.id); err != nil {
		w.Fatal(err)
	}
	s.own.Job, s.home = s.id, dir
	return s
}

// does lets the script execute commands, and waits for their end.
func (s *script) does(commands string) (out, errs string, status int) {
	s.Helper()
	return s.begins(commands)()
}

// begins lets the script execute commands. The function that it returns waits for their end.
func (s *script) begins(commands string) (end func() (out, errs string, status int)) {
	s.Helper()
	s.said++
	name := filepath.Join(s.home, fmt.Sprintf("c%d", s.said))
	if err := os.WriteFile(name, []byte(commands+"\n"), 0o644); err != nil {
		s.Fatal(err)
	}
	if _, errs, err := s.lab.Exec("alice", "", "sh", "-c", fmt.Sprintf("echo c%d >%s/commands", s.said, s.home)); err != nil {
		s.Fatalf("the script does not take %q: %v\n%s\nits own words: %s\nthe jobs: %s", commands, err, errs, s.read("job.out"),
			s.lab.Run(s.T, "root", "squeue", "-a", "-t", "all", "-o", "%i %j %T %r %N"))
	}
	return func() (out, errs string, status int) {
		s.Helper()
		s.lab.Await(s.T, 2*time.Minute, "the script has done: "+commands, func() bool {
			_, err := os.Stat(name + ".status")
			return err == nil
		})
		for suffix, into := range map[string]any{".out": &out, ".err": &errs, ".status": &status} {
			text, err := os.ReadFile(name + suffix)
			if err != nil {
				s.Fatal(err)
			}
			if to, ok := into.(*string); ok {
				*to = string(text)
			} else if _, err := fmt.Sscan(string(text), into); err != nil {
				s.Fatal(err)
			}
		}
		return out, errs, status
	}
}

// steps lets the script call accordion step, and replies with the given companions.
func (s *script) steps(step int, companions ...allocation.Allocation) {
	s.Helper()
	end := s.begins(`eval "$(accordion step)"`)
	list := append(allocation.List{s.own}, companions...)
	reply := wire.Reply{Status: wire.Resized, Nodes: hostlist.Compact(list.Nodes()), Count: len(list.Nodes()), Step: step, Steps: 9, Generation: step - 1}
	for _, a := range list {
		if len(companions) > 0 {
			reply.Allocations = append(reply.Allocations, wire.Allocation{Job: a.Job, Nodes: hostlist.Compact(a.Nodes)})
		}
	}
	select {
	case call := <-s.calls:
		if call.Request.Job != s.id {
			s.Fatalf("job %d asks, not %d", call.Request.Job, s.id)
		}
		call.Answer(reply)
	case <-time.After(lab.Patience):
		s.Fatal("the script does not ask for its next step")
	}
	if out, errs, status := end(); status != 0 || !strings.Contains(errs, fmt.Sprintf("step %d of 9 begins", step)) {
		s.Fatalf("status %d\n%s%s", status, out, errs)
	}
}

// succeeds runs commands that must succeed. It returns the lines of their output.
func (s *script) succeeds(commands string) []string {
	s.Helper()
	out, errs, status := s.does(commands)
	if status != 0 {
		s.Errorf("%s\nstatus %d\n%s%s", commands, status, out, errs)
	}
	if out == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n")
}

// read returns a file in the script's folder, or "" where there is none.
func (s *script) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(s.home, name))
	return string(text)
}

// same fails the test unless two lists of lines are equal in any order.
func (s *script) same(what string, got []string, want ...string) {
	s.Helper()
	if g, w := ordered(got), ordered(want); g != w {
		s.Errorf("%s:\n%s\nwant:\n%s", what, g, w)
	}
}
