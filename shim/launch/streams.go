package launch

import (
	"fmt"
	"strconv"
	"strings"

	"accordion/shim/srun"
)

// kind is the meaning of the argument of -o, -e or -i.
type kind int

const (
	everyTask kind = iota // all tasks use accordion's own streams
	noTask
	oneTask
	aFile   // one file for all tasks
	perTask // one file for each task or node, whose numbers are in the file name
	perStep // one file for each step, which srun opens
)

// stream is one of the three streams of a program.
type stream struct {
	kind  kind
	task  int    // of oneTask: the task's number, counted over all parts
	name  string // name of a file, as the user wrote it
	sink  Sink   // of aFile
	shell string // of perTask: the file's name as a word for the shell
}

// streams are the three streams, and how files are opened.
type streams struct {
	in, out, err stream
	appends      bool
}

// readStreams reads the options or, without options, srun's environment variables, which different releases name differently.
func readStreams(w World, line srun.Line) (streams, error) {
	said := func(option string, variables ...string) string {
		if o, ok := line.Last(option); ok {
			return o.Value
		}
		for _, name := range variables {
			if v := w.get(name); v != "" {
				return v
			}
		}
		return ""
	}
	mode := said("open-mode", "SLURM_OPEN_MODE")
	if mode != "" && !strings.HasPrefix(mode, "a") && !strings.HasPrefix(mode, "t") {
		return streams{}, fmt.Errorf("--open-mode: %.60q is neither append nor truncate", mode)
	}
	s := streams{appends: strings.HasPrefix(mode, "a")}
	out := said("output", "SRUN_OUTPUT", "SLURM_STDOUTMODE")
	err := said("error", "SRUN_ERROR", "SLURM_STDERRMODE")
	if err == "" {
		err = out // as in srun
	}
	s.in = w.stream(said("input", "SRUN_INPUT", "SLURM_STDINMODE"), false)
	s.out, s.err = w.stream(out, s.appends), w.stream(err, s.appends)
	return s, nil
}

func (w World) stream(text string, appends bool) stream {
	task, err := strconv.Atoi(text)
	switch {
	case text == "" || text == "all":
		return stream{kind: everyTask}
	case text == "none":
		return stream{kind: noTask}
	case err == nil && task >= 0:
		return stream{kind: oneTask, task: task}
	case hasSymbol(text, "tnN"):
		return stream{kind: perTask, name: text, shell: w.shell(text)}
	case hasSymbol(text, "sJ"):
		return stream{kind: perStep, name: text}
	}
	return stream{kind: aFile, name: text, sink: Sink{Path: w.expanded(text), Append: appends}}
}

// feeds reports whether a task of the part reads accordion's standard input.
func (s stream) feeds(p Part) bool {
	return s.kind == everyTask || s.kind == oneTask && p.local(s.task) != "none"
}

// arguments returns the options for the streams of a part's srun.
func (s streams) arguments(p Part) []string {
	var all []string
	for _, of := range []struct {
		option string
		stream
	}{{"output", s.out}, {"error", s.err}} {
		switch of.kind {
		case noTask:
			all = append(all, "--"+of.option+"=none")
		case oneTask:
			all = append(all, "--"+of.option+"="+p.local(of.task))
		case perStep:
			all = append(all, "--"+of.option+"="+of.name)
		}
	}
	if s.appends && (s.out.kind == perStep || s.err.kind == perStep) {
		all = append(all, "--open-mode=append")
	}
	switch s.in.kind {
	case noTask, perTask: // the task opens its own file
		all = append(all, "--input=none")
	case oneTask:
		all = append(all, "--input="+p.local(s.in.task))
	case perStep:
		all = append(all, "--input="+s.in.name)
	case aFile: // every srun reads the file
		all = append(all, "--input="+literal(s.in.sink.Path))
	}
	return all
}

// literal returns a file's name in a form in which srun finds no symbols.
func literal(name string) string {
	if strings.Contains(name, "%") {
		return `\` + name
	}
	return name
}

// redirect returns the shell commands for a task whose output goes to files of its own.
func (s streams) redirect() string {
	to := ">"
	if s.appends {
		to = ">>"
	}
	script := ""
	if s.out.kind == perTask {
		script = "exec " + to + s.out.shell + "\n"
	}
	switch {
	case s.err.kind == perTask && s.err.name == s.out.name:
		script += "exec 2>&1\n"
	case s.err.kind == perTask:
		script += "exec 2" + to + s.err.shell + "\n"
	}
	return script
}

// local returns a task's number in its part, or "none" when it is in another part.
func (p Part) local(task int) string {
	if task < p.FirstTask || task >= p.FirstTask+p.Tasks {
		return "none"
	}
	return strconv.Itoa(task - p.FirstTask)
}
