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

// World contains what a decision needs in addition to the command line.
type World struct {
	Allocations allocation.List                            // at least two
	Getenv      func(name string) (string, bool)           // os.LookupEnv
	ReadFile    func(name string) (text []byte, err error) // os.ReadFile, for lists of nodes in a file
	User        string
}

func (w World) get(name string) string {
	v, _ := w.Getenv(name)
	return v
}

// Plan is how one program is started on several allocations.
type Plan struct {
	Parts        []Part
	Tasks, Nodes int  // numbers of tasks and nodes of all parts together
	Label        bool // output lines begin with the number of their task
	Raw          bool // output is passed on as it comes, and not line by line
	Out, Err     Sink
	KillOnBad    Answer        // whether to end all tasks when one fails
	Wait         time.Duration // how long after the end of the first part the others are ended; 0 means never
	Warnings     []string
}

// Part is what runs in one allocation.
type Part struct {
	allocation.Allocation          // the allocation's job, and those of its nodes that are used
	Tasks                 int      // number of tasks on these nodes
	FirstTask, FirstNode  int      // numbers of the part's first task and first node, counted over all parts
	Feeds                 bool     // its tasks read our standard input
	Arguments             []string // arguments of srun, with the program
}

// Answer is the answer to a question, or Unsaid.
type Answer int

// The answers.
const (
	Unsaid Answer = iota
	Yes
	No
)

// Sink is where the output of all tasks goes.
type Sink struct {
	Path   string // "" means our own output
	Append bool   // append to the file's content
}

// Decide plans how to start the program of a command line. The error is one line with the reason why the program cannot be started.
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
	all, err := wants.tasksOn(len(nodes))
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Tasks: all, Nodes: len(nodes)}
	if len(nodes) < wants.least {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s cannot run on %s: %d are used", number(all, "task"), number(wants.least, "node"), len(nodes)))
	}
	p.divide(w.Allocations, nodes)
	if err := p.readCommonOptions(w, line); err != nil {
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
		part.Arguments = append(part.placement(wants), passedOn(line)...)
		part.Arguments = append(part.Arguments, streams.arguments(*part)...)
		part.Arguments = append(part.Arguments, "--")
		part.Arguments = append(part.Arguments, p.task(*part, streams, line.Program)...)
	}
	return p, nil
}

// divide assigns to each allocation its nodes and their share of the tasks. The shares are as even as possible; the first nodes may have
// one task more.
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

// placement returns srun's options for the nodes and numbers of its tasks.
func (p Part) placement(wants counts) []string {
	arguments := []string{
		"--jobid=" + strconv.FormatInt(p.Job, 10),
		"--nodes=" + strconv.Itoa(len(p.Nodes)),
		"--ntasks=" + strconv.Itoa(p.Tasks),
		"--nodelist=" + hostlist.Compact(p.Nodes),
	}
	if p.Tasks == wants.perNode*len(p.Nodes) { // otherwise srun warns that it cannot honor the option
		arguments = append(arguments, "--ntasks-per-node="+strconv.Itoa(wants.perNode))
	}
	return arguments
}

// readCommonOptions reads the options that concern all parts together. Each srun gets these options too.
func (p *Plan) readCommonOptions(w World, line srun.Line) error {
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
		return fmt.Errorf("--wait: %.60q is not a number of seconds", wait)
	}
	p.Wait = time.Duration(seconds) * time.Second
	return nil
}

// isSet interprets a variable that stands for a flag.
func isSet(value string) bool { return value != "" && value != "0" }

// passedOn returns the options that each srun gets unchanged, and a name for its step.
func passedOn(line srun.Line) []string {
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

// translated contains the options that are replaced by values for each allocation.
var translated = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq("nodes ntasks ntasks-per-node nodelist nodefile exclude relative output error input open-mode") {
		translated[name] = true
	}
}

// number returns "1 task" or "2 tasks".
func number(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return strconv.Itoa(n) + " " + of + "s"
}
