package launch

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"accordion/core/hostlist"
	"accordion/shim/allocation"
	"accordion/shim/srun"
)

// World is what a decision depends on beside the command line.
type World struct {
	Allocations allocation.List                            // two at least
	Getenv      func(name string) (string, bool)           // os.LookupEnv
	ReadFile    func(name string) (text []byte, err error) // os.ReadFile: for lists of nodes that stand in a file
	User        string
}

func (w World) get(name string) string {
	v, _ := w.Getenv(name)
	return v
}

// Plan is how one program is started over several allocations.
type Plan struct {
	Parts        []Part
	Tasks, Nodes int  // of all parts
	Label        bool // lines begin with the number of their task
	Raw          bool // output is passed on as it comes, not by lines
	Out, Err     Sink
	KillOnBad    Answer        // end all when a task fails
	Wait         time.Duration // after the first part has ended, the others are ended in so long; 0: never
	Warnings     []string
}

// Part is what runs in one allocation.
type Part struct {
	allocation.Allocation          // its job, and those of its nodes that are used
	Tasks                 int      // on these nodes
	FirstTask, FirstNode  int      // their numbers in the whole
	Feeds                 bool     // its tasks read our standard input
	Arguments             []string // of srun, with the program
}

// Answer to a question that may not have been asked.
type Answer int

// The answers.
const (
	Unsaid Answer = iota
	Yes
	No
)

// Sink is where the output of all tasks goes.
type Sink struct {
	Path   string // "": our own
	Append bool   // to what the file has
}

// Decide says how the program of a command line is started. Errors say in one line why it cannot be.
func Decide(w World, line srun.Line) (Plan, error) {
	if err := refuse(w, line); err != nil {
		return Plan{}, err
	}
	wants, err := readCounts(w, line)
	if err != nil {
		return Plan{}, err
	}
	nodes, err := wants.choose(w.Allocations)
	if err != nil {
		return Plan{}, err
	}
	all, err := wants.on(len(nodes))
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Tasks: all, Nodes: len(nodes)}
	if len(nodes) < wants.least {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s cannot run on %s: %d are used", number(all, "task"), number(wants.least, "node"), len(nodes)))
	}
	p.divide(w.Allocations, nodes)
	if err := p.understand(w, line); err != nil {
		return Plan{}, err
	}
	streams, err := readStreams(w, line)
	if err != nil {
		return Plan{}, err
	}
	p.Out, p.Err = streams.out.sink, streams.err.sink
	for i := range p.Parts {
		part := &p.Parts[i]
		part.Feeds = streams.in.feeds(*part)
		part.Arguments = append(part.placed(wants), passed(line)...)
		part.Arguments = append(part.Arguments, streams.arguments(*part)...)
		part.Arguments = append(part.Arguments, "--")
		part.Arguments = append(part.Arguments, p.task(*part, streams, line.Program)...)
	}
	return p, nil
}

// divide gives each allocation its nodes, and their share of the tasks: as even as it goes, the first nodes having one more.
func (p *Plan) divide(list allocation.List, nodes []string) {
	share := map[string]int{}
	for i, n := range allocation.Spread(p.Tasks, len(nodes)) {
		share[nodes[i]] = n
	}
	task, node := 0, 0
	for _, a := range list {
		part := Part{Allocation: allocation.Allocation{Job: a.Job}, FirstTask: task, FirstNode: node}
		for _, name := range a.Nodes {
			if n, used := share[name]; used {
				part.Nodes = append(part.Nodes, name)
				part.Tasks += n
			}
		}
		if len(part.Nodes) > 0 {
			p.Parts = append(p.Parts, part)
			task, node = task+part.Tasks, node+len(part.Nodes)
		}
	}
}

// placed tells srun where its tasks go.
func (p Part) placed(wants counts) []string {
	arguments := []string{
		"--jobid=" + strconv.FormatInt(p.Job, 10),
		"--nodes=" + strconv.Itoa(len(p.Nodes)),
		"--ntasks=" + strconv.Itoa(p.Tasks),
		"--nodelist=" + hostlist.Compact(p.Nodes),
	}
	if p.Tasks == wants.perNode*len(p.Nodes) { // else srun warns that it cannot honor it
		arguments = append(arguments, "--ntasks-per-node="+strconv.Itoa(wants.perNode))
	}
	return arguments
}

// understand reads the options that concern all parts together and that each srun is told all the same.
func (p *Plan) understand(w World, line srun.Line) error {
	_, p.Label = line.Last("label")
	p.Label = p.Label || isSet(w.get("SLURM_LABELIO"))
	_, p.Raw = line.Last("unbuffered")
	p.Raw = p.Raw || isSet(w.get("SLURM_UNBUFFEREDIO"))

	kill, asked := w.Getenv("SLURM_KILL_BAD_EXIT")
	if o, ok := line.Last("kill-on-bad-exit"); ok {
		kill, asked = o.Value, true
	}
	if asked && kill == "0" {
		p.KillOnBad = No
	} else if asked {
		p.KillOnBad = Yes
	}

	wait := w.get("SLURM_WAIT")
	if o, ok := line.Last("wait"); ok {
		wait = o.Value
	}
	if wait == "" {
		return nil
	}
	seconds, err := strconv.ParseInt(wait, 10, 32)
	if err != nil || seconds < 0 {
		return fmt.Errorf("--wait: %.60q is no number of seconds", wait)
	}
	p.Wait = time.Duration(seconds) * time.Second
	return nil
}

// isSet reads a variable that stands for a flag.
func isSet(value string) bool { return value != "" && value != "0" }

// passed are the options that each srun gets as they are, and a name for its step.
func passed(line srun.Line) []string {
	var all []string
	if _, named := line.Last("job-name"); !named {
		all = append(all, "--job-name="+filepath.Base(line.Program[0]))
	}
	for _, o := range line.Options {
		if !translated[o.Name] {
			all = append(all, o.String())
		}
	}
	return all
}

// translated are the options that are read here and replaced by what holds in each allocation.
var translated = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq("nodes ntasks ntasks-per-node nodelist nodefile exclude relative output error input open-mode") {
		translated[name] = true
	}
}

// number writes "1 task" or "2 tasks".
func number(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return strconv.Itoa(n) + " " + of + "s"
}
