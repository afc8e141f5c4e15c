package slurm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core"
)

// This file reads jobs as `scontrol -o show job` prints them: each on a line of KEY=VALUE, with what users wrote in between.
// A user may write anything into his job's name, account, comment or paths, also whole forged records. So a record is
// believed only when each of the keys stands in it once and in its place, for the true ones are always there; and what a
// record cannot show even so is asked elsewhere (see System.list).

// errForged is a record in which a key stands twice: some user wrote it, and nobody can tell which is true. squeue can.
var errForged = errors.New("a job's text looks like another field of it")

// A shown job is a record without its name, comment and mark where they are not certain.
type shown struct {
	record
	// free is all that follows the fields which Slurm alone writes: paths, comments, the mark.
	free string
}

// Keys of a record in their order. Between two that follow each other here there may be others, and those of slots.
var (
	keys = []string{
		" JobName=", " UserId=", " GroupId=", " MCS_label=", " Priority=", " Nice=", " Account=", " QOS=", " JobState=", " Reason=",
		" Dependency=", " Requeue=", " RunTime=", " TimeLimit=", " TimeMin=", " SubmitTime=", " EligibleTime=", " StartTime=", " EndTime=",
		" Partition=", " AllocNode:Sid=", " NodeList=", " NumNodes=", " NumCPUs=", " NumTasks=", " CPUs/Task=", " DelayBoot=", " OverSubscribe=",
		" Contiguous=", " Command=", " WorkDir=",
	}
	order = func() map[string]int {
		m := map[string]int{}
		for i, k := range keys {
			m[k] = i
		}
		return m
	}()
)

// place is where the key of a name stands among the keys.
func place(name string) int { return order[" "+name+"="] }

// parseShown reads all jobs of an answer to `show job`. Between them there may be prompts.
func parseShown(out string) ([]shown, error) {
	var jobs []shown
	known := map[core.JobID]bool{}
	nodes := map[string][]string{}
	for rest := out; ; {
		at := strings.Index(rest, "JobId=")
		if at < 0 {
			return jobs, nil
		}
		if before := rest[:at]; before != "" && !strings.HasSuffix(before, "\n") && !strings.HasSuffix(before, prompt) {
			return nil, fmt.Errorf("scontrol: text before a job: %w", errForm)
		}
		rest = rest[at:]
		line := rest
		if end := strings.Index(rest, "\nJobId="); end >= 0 {
			line = rest[:end]
		}
		rest = rest[len(line):]
		j, err := parseShownJob(strings.TrimRight(line, "\n"), nodes)
		if err != nil {
			return nil, fmt.Errorf("scontrol: job %d of the list: %w", len(jobs)+1, err)
		}
		if known[j.ID] {
			return nil, fmt.Errorf("scontrol: job %d twice: %w", j.ID, errForged)
		}
		known[j.ID] = true
		jobs = append(jobs, j)
	}
}

// parseShownJob reads one.
func parseShownJob(line string, nodes map[string][]string) (shown, error) {
	line = strings.Clone(line) // what is kept of the job must not keep the list
	head, values, err := split(line)
	if err != nil {
		return shown{}, err
	}
	// word is a field of one word, slot one that is not always there, behind another.
	word := func(key string) string {
		w, _, _ := strings.Cut(values[place(key)], " ")
		return w
	}
	slot := func(behind, key string) string { return field(values[place(behind)], key) }

	e := fieldReader{}
	var r record
	id, _, _ := strings.Cut(strings.TrimPrefix(head, "JobId="), " ")
	r.ID = core.JobID(e.number("JobId", id))
	tasks := ""
	if array := field(head, "ArrayJobId"); array != "" {
		r.array, tasks = e.number("ArrayJobId", array), field(head, "ArrayTaskId")
		r.Unfit = unfitArray
	} else if field(head, "HetJobId") != "" {
		r.Unfit = unfitHet
	}
	r.Name = values[place("JobName")]
	if r.Unfit == unfitHet {
		r.Name = r.Name[:max(0, strings.LastIndex(r.Name, " HetJobIdSet="))]
	}
	r.User, r.UID = account(&e, "UserId", word("UserId"))
	_, r.GID = account(&e, "GroupId", word("GroupId"))
	stateWord := word("JobState")
	r.State, r.Held = state(stateWord)
	r.Why = text(word("Reason"))
	r.Partition, r.QOS, r.account = word("Partition"), text(word("QOS")), text(values[place("Account")])
	low, high, ranges := strings.Cut(word("NumNodes"), "-")
	r.Want = e.count("NumNodes", low)
	if r.maxNodes = r.Want; ranges {
		r.maxNodes = e.count("NumNodes", high)
	}
	r.Tasks, r.CPUs = e.count("NumTasks", word("NumTasks")), e.count("NumCPUs", word("NumCPUs"))
	r.Limit = e.limit("TimeLimit", word("TimeLimit"))
	r.memory, r.memoryPerCPU = e.megabytes("MinMemoryNode", slot("CPUs/Task", "MinMemoryNode")), e.megabytes("MinMemoryCPU", slot("CPUs/Task", "MinMemoryCPU"))
	r.minCPUs, r.features = e.count("MinCPUsNode", slot("CPUs/Task", "MinCPUsNode")), text(slot("CPUs/Task", "Features"))
	start, eligible := e.instant("StartTime", word("StartTime")), e.instant("EligibleTime", word("EligibleTime"))
	r.Submitted = e.instant("SubmitTime", word("SubmitTime"))
	r.Priority = e.number("Priority", word("Priority"))
	r.Reservation, r.dependsOn, r.batchHost = text(slot("DelayBoot", "Reservation")), text(word("Dependency")), text(slot("NodeList", "BatchHost"))
	if list := text(word("NodeList")); list != "" {
		r.Nodes = hostFirst(e.nodes(list, nodes), r.batchHost)
	}
	if e.err != nil {
		return shown{}, e.err
	}
	r.settle(stateWord, tasks, start, eligible)
	j := shown{record: r, free: line[strings.Index(line, " Command="):]}
	j.Comment = commentOf(j.free)
	j.perNode, j.perTask, j.perJob = last(j.free, "TresPerNode"), last(j.free, "TresPerTask"), last(j.free, "TresPerJob")
	j.Expands = expands(&j.record)
	return j, nil
}

// split is what stands before the first key, and behind each of them up to the next.
func split(line string) (head string, values []string, err error) {
	at := make([]int, len(keys)) // where each key's blank is, and 1 more: 0 is nowhere
	blank := 0
	for i := range len(line) {
		switch line[i] {
		case ' ':
			blank = i
		case '=':
			k, ok := order[line[blank:i+1]]
			if !ok {
				continue
			}
			if at[k] > 0 {
				return "", nil, fmt.Errorf("%stwice: %w", keys[k], errForged)
			}
			at[k] = blank + 1
		}
	}
	values = make([]string, len(keys))
	end := len(line)
	for k := len(keys) - 1; k >= 0; k-- {
		switch {
		case at[k] == 0:
			return "", nil, fmt.Errorf("no%s: %w", keys[k], errForm)
		case at[k] > end:
			return "", nil, fmt.Errorf("%sout of its place: %w", keys[k], errForged)
		}
		values[k] = line[at[k]-1+len(keys[k]) : end]
		end = at[k] - 1
	}
	return line[:end], values, nil
}

// account reads a name with its number: alice(1001).
func account(e *fieldReader, key, s string) (string, uint32) {
	at := strings.LastIndexByte(s, '(')
	if at < 0 || !strings.HasSuffix(s, ")") {
		e.fail(key, fmt.Errorf("%q is not a name with its number: %w", s, errForm))
		return "", 0
	}
	return s[:at], uint32(e.number(key, s[at+1:len(s)-1]))
}

// commentOf is the comment among what users wrote, or what its user made look like it.
func commentOf(free string) string {
	_, comment, found := strings.Cut(free, " Comment=")
	if !found {
		return ""
	}
	for _, next := range []string{"  StdErr=", "  Power="} {
		if at := strings.LastIndex(comment, next); at >= 0 {
			return text(comment[:at])
		}
	}
	return text(strings.TrimRight(comment, " \n"))
}

// marked says whether the job has a mark, or its user made it look so.
func (j *shown) marked() bool { return strings.Contains(j.free, " AdminComment=") }

// find is the job of the id.
func find(jobs []shown, id core.JobID) *shown {
	i := slices.IndexFunc(jobs, func(j shown) bool { return j.ID == id })
	if i < 0 {
		return nil
	}
	return &jobs[i]
}

// waitingOrRunning drops what squeue does not list: jobs that are over.
func waitingOrRunning(jobs []shown) []record {
	kept := make([]record, 0, len(jobs))
	for _, j := range jobs {
		if j.State != adapter.Done {
			kept = append(kept, j.record)
		}
	}
	return kept
}

// last is the last value of the key.
func last(text, key string) string {
	at := strings.LastIndex(text, " "+key+"=")
	if at < 0 {
		return ""
	}
	return field(text[at:], key)
}
