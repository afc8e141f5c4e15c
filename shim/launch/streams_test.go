package launch

import (
	"os/exec"
	"strings"
	"testing"
)

func TestFilesAreForAllTasksOrForEach(t *testing.T) {
	for _, c := range []struct {
		line      string
		env       []string
		out, err  Sink     // of all parts
		feeds     bool     // tasks read accordion's standard input
		only      int64    // job of the part whose tasks alone read the input; 0 if there is no such part
		arguments []string // arguments of each srun, part by part
		shell     string   // what each task executes
	}{
		{line: "a", feeds: true, arguments: []string{"", "", ""}},
		{line: "-o x.txt a", out: Sink{Path: "x.txt"}, err: Sink{Path: "x.txt"}, feeds: true, arguments: []string{"", "", ""}},
		{line: "-o x.txt -e y.txt --open-mode=append a", out: Sink{"x.txt", true}, err: Sink{"y.txt", true}, feeds: true, arguments: []string{"", "", ""}},
		{line: "-e y-%j-%u-%x.txt a", err: Sink{Path: "y-42-alice-cfd.txt"}, feeds: true, arguments: []string{"", "", ""}},
		{line: "-o none a", feeds: true, arguments: []string{"--output=none --error=none", "--output=none --error=none", "--output=none --error=none"}},
		{line: "-o 5 -e all a", feeds: true, arguments: []string{"--output=none", "--output=1", "--output=none"}},
		{line: "-o out.%t a", feeds: true, arguments: []string{"", "", ""}, shell: "exec >'out.'\"$ACCORDION_PROCID\"\nexec 2>&1\n"},
		{line: "-o %3t/%n -e %N.e --open-mode=a a", feeds: true, arguments: []string{"", "", ""},
			shell: "exec >>\"$(printf %03d \"$ACCORDION_PROCID\")\"'/'\"$ACCORDION_NODEID\"\nexec 2>>\"$SLURMD_NODENAME\"'.e'\n"},
		{line: "-o s.%J -e none a", feeds: true, arguments: []string{"--output=s.%J --error=none", "--output=s.%J --error=none", "--output=s.%J --error=none"}},
		{line: "-i none a", arguments: []string{"--input=none", "--input=none", "--input=none"}},
		{line: "-i 8 a", feeds: true, only: 58, arguments: []string{"--input=none", "--input=none", "--input=0"}},
		{line: "-i f a", arguments: []string{"--input=f", "--input=f", "--input=f"}},
		{line: "-i f.%j%% a", arguments: []string{`--input=\f.42%`, `--input=\f.42%`, `--input=\f.42%`}},
		{line: "-i f.%t a", arguments: []string{"--input=none", "--input=none", "--input=none"}, shell: "exec <'f.'\"$ACCORDION_PROCID\"\n"},
		{line: "a", env: []string{"SRUN_OUTPUT=x", "SRUN_ERROR=y", "SRUN_INPUT=none"}, out: Sink{Path: "x"}, err: Sink{Path: "y"},
			arguments: []string{"--input=none", "--input=none", "--input=none"}},
		{line: "-o z a", env: []string{"SLURM_STDOUTMODE=x", "SLURM_STDERRMODE=none", "SLURM_OPEN_MODE=a"}, out: Sink{"z", true}, feeds: true,
			arguments: []string{"--error=none", "--error=none", "--error=none"}},
	} {
		p, err := decide(t, stepped, c.line, c.env...)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if p.Out != c.out || p.Err != c.err {
			t.Errorf("%s: output to %v, errors to %v; want %v, %v", c.line, p.Out, p.Err, c.out, c.err)
		}
		for i, part := range p.Parts {
			if want := c.feeds && (c.only == 0 || c.only == part.Job); part.Feeds != want {
				t.Errorf("%s: part %d reads: %v, want %v", c.line, i, part.Feeds, want)
			}
			options, program, _ := strings.Cut(strings.Join(part.Arguments, " "), " -- ")
			_, after, _ := strings.Cut(options, "--job-name=a")
			if got := strings.TrimSpace(after); got != c.arguments[i] {
				t.Errorf("%s: part %d gets %q, want %q", c.line, i, got, c.arguments[i])
			}
			if !strings.Contains(program, "\n"+c.shell+`exec "$@"`) {
				t.Errorf("%s: its tasks do %q, want %q", c.line, program, c.shell)
			}
		}
	}
}

func TestSymbolsInNamesOfFilesAreReadAsSrunReadsThem(t *testing.T) {
	w := World{User: "al", Getenv: func(name string) (string, bool) {
		v, set := map[string]string{"SLURM_JOB_NAME": "cfd", "SLURM_ARRAY_JOB_ID": "40", "SLURM_ARRAY_TASK_ID": "2"}[name]
		return v, set
	}}
	p, err := decide(t, stepped, "a")
	if err != nil {
		t.Fatal(err)
	}
	w.Allocations = append(w.Allocations, p.Parts[0].Allocation)
	for name, want := range map[string]string{
		"plain": "plain", "%j": "42", "%5j": "00042", "%A_%a": "40_2", "%u.%x": "al.cfd", "100%%": "100%", "%": "%", "%5": "%5", "a%": "a%", `\%j`: "%j", "%q": "%q", "é%jé": "é42é",
	} {
		if got := w.expanded(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// The name of a task's own file may contain any character that a file name may contain.
func TestATaskOpensItsOwnFileWhateverItIsCalled(t *testing.T) {
	w := World{Getenv: func(string) (string, bool) { return "", false }}
	p, err := decide(t, stepped, "a")
	if err != nil {
		t.Fatal(err)
	}
	w.Allocations = append(w.Allocations, p.Parts[0].Allocation)
	for name, want := range map[string]string{
		"a b'c%t": "a b'c7", `"%2t"$HOME`: `"07"$HOME`, "`id`%t": "`id`7", "%t%t;": "77;", "%n": "3", "%N.%s": "n9.5", "%J": "57.5", "-%t": "-7",
	} {
		c := exec.Command("/bin/sh", "-c", "printf %s "+w.shell(name))
		c.Env = []string{"ACCORDION_PROCID=7", "ACCORDION_NODEID=3", "SLURMD_NODENAME=n9", "SLURM_STEP_ID=5", "SLURM_JOB_ID=57"}
		if got, err := c.Output(); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", name, got, err, want)
		}
	}
}
