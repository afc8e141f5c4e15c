package slurm

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
)

// This file reads a job's record as a console shows it, once its keys are found (layout.go).

// A shown job is what a console shows of one.
type shown struct {
	record        // without its state, which settles the rest (see finish)
	doubt  doubt  // what of the record is not certain
	known  bool   // that was filled in, as it was when it was certain
	odd    bool   // a key is missing
	marked bool   // something looks like a mark
	text   string // where that was read: while it is the same, so is the truth
	plain  bool   // nothing but the host of submission could make the first keys of the middle another's
	open   bool   // it may end later

	wrong string // what of the middle, as it was found from the front, cannot be read

	word, tasks     string // Slurm's word for the state; the task ids of an array
	start, eligible core.Time
}

// doubt is which fields of a record are not certain.
type doubt int

const (
	ofHead   doubt = 1 << iota // name, owner, priority, account, QOS
	ofMiddle                   // partition, nodes, what it asked for, reservation
	ofMark                     // the mark and what goes with it: a user can make a job look as if it had one
	ofState                    // all: the record is not as any known Slurm writes it
)

// read reads a record; stamped is where its time of submission stands. Beyond is what may belong to it too.
func (r *reader) read(line string, id core.JobID, stamped int, end ending, beyond string) shown {
	line = strings.Clone(line) // what is kept of the job must not keep the list
	r.find(line)
	l := layout{line: line}
	e := fieldReader{}
	j := shown{open: end == open}
	j.ID, j.Submitted = id, e.instant("SubmitTime", strings.TrimPrefix(wordOf(line[stamped+len(keys[keySubmitTime]):]), r.stamp))
	j.doubt, j.odd = l.lay(r, stamped)
	j.marked = j.doubt&ofMark != 0
	if j.doubt&ofState == 0 {
		j.word, j.Why, j.dependsOn = l.word(keyJobState), text(l.word(keyReason)), text(l.word(keyDependency))
		j.Limit = e.limit("TimeLimit", l.word(keyTimeLimit))
		at := func(name string, key int) core.Time { return e.instant(name, strings.TrimPrefix(l.word(key), r.stamp)) }
		j.start, j.eligible = at("StartTime", keyStartTime), at("EligibleTime", keyEligibleTime)
	}
	l.numbers(&e, &j)
	if j.doubt&ofHead == 0 {
		l.head(&e, &j)
	}
	if l.whole {
		middle := fieldReader{}
		if l.middle(&middle, &j, r.nodes); middle.err != nil {
			j.wrong = middle.err.Error()
		}
		j.Comment = commentOf(line[l.at[keyWorkDir]:], l.word(keyBatchFlag) == "1")
	}
	j.upfront = j.doubt&ofMiddle == 0 && end == closed
	switch end {
	case open:
		j.doubt |= ofMiddle | ofMark
	case likely:
		j.doubt |= ofMiddle
	}
	if j.doubt != 0 {
		j.text = l.doubtful(j.doubt) + beyond
	}
	if e.err != nil {
		j.unreadable = e.err.Error()
	}
	return j
}

// take takes what is in doubt from what is known of the job, unless that takes the doubt away.
func (j *shown) take(r *record) {
	j.known = true
	if j.plain && r.upfront {
		j.doubt &^= ofMiddle
		j.upfront = true
	}
	if j.open && r.Mark == "" && !j.marked {
		j.doubt &^= ofMark
	}
	if j.doubt&ofState != 0 {
		j.record = *r
		return
	}
	if j.doubt&ofHead != 0 {
		j.Name, j.User, j.UID, j.GID, j.account, j.QOS, j.Priority, j.nice = r.Name, r.User, r.UID, r.GID, r.account, r.QOS, r.Priority, r.nice
	}
	if j.doubt&ofMiddle != 0 {
		j.wrong = r.unreadable
		j.Partition, j.Nodes, j.batchHost, j.Reservation = r.Partition, r.Nodes, r.batchHost, r.Reservation
		j.Want, j.maxNodes, j.Tasks, j.CPUs = r.Want, r.maxNodes, r.Tasks, r.CPUs
		j.minCPUs, j.minMemory, j.memoryPer, j.upfront = r.minCPUs, r.minMemory, r.memoryPer, r.upfront
		j.overSubscribe, j.features, j.tres = r.overSubscribe, r.features, r.tres
	}
	if j.doubt&(ofMark|ofMiddle) != 0 {
		j.Comment = r.Comment
	}
	if j.doubt&ofMark != 0 {
		j.Mark, j.tresPerNode, j.tresPerJob, j.tresPerTask = r.Mark, r.tresPerNode, r.tresPerJob, r.tresPerTask
	}
}

// over says whether the job has ended, and has no nodes any more.
func (j *shown) over() bool {
	s, _ := state(j.word)
	return s == adapter.Done
}

// finish fills in what follows from the state.
func (j *shown) finish() {
	if j.doubt&ofState == 0 {
		j.unreadable = cmp.Or(j.unreadable, j.wrong)
		j.settle(j.word, j.tasks, j.start, j.eligible)
	}
}

// numbers reads what the record begins with.
func (l *layout) numbers(e *fieldReader, j *shown) {
	numbers, _, _ := strings.Cut(l.line, keyName)
	if array := field(numbers, "ArrayJobId"); array != "" {
		j.array, j.tasks = e.number("ArrayJobId", array), field(numbers, "ArrayTaskId")
		if most := field(numbers, "ArrayTaskThrottle"); most != "" {
			j.most = e.count("ArrayTaskThrottle", most)
		}
	} else if field(numbers, "HetJobId") != "" {
		j.Unfit = unfitHet
	}
}

// keyName stands behind the numbers, and what is the name is up to the next of Slurm's keys.
const keyName = " JobName="

// head reads name, owner and rank.
func (l *layout) head(e *fieldReader, j *shown) {
	_, name, _ := strings.Cut(l.line[:l.at[keyUser]], keyName)
	if j.Unfit == unfitHet {
		name = name[:max(0, strings.LastIndex(name, " HetJobIdSet="))]
	}
	j.Name = text(name)
	j.User, j.UID = nameAndNumber(e, "UserId", l.span(keyUser, keyGroup))
	_, j.GID = nameAndNumber(e, "GroupId", l.span(keyGroup, keyMcsLabel))
	j.Priority, j.nice = e.number("Priority", l.word(keyPriority)), e.signed("Nice", l.word(keyNice))
	j.account, j.QOS = text(l.span(keyAccount, keyQOS)), text(l.word(keyQOS))
}

// nameAndNumber reads a user or group: alice(1001).
func nameAndNumber(e *fieldReader, key, s string) (string, uint32) {
	at := strings.LastIndexByte(s, '(')
	if at < 0 || !strings.HasSuffix(s, ")") {
		e.fail(key, fmt.Errorf("%q is not a name with its number: %w", s, errForm))
		return "", 0
	}
	return s[:at], uint32(e.number(key, s[at+1:len(s)-1]))
}

// middle reads where the job is and what it asked for, by the first places.
func (l *layout) middle(e *fieldReader, j *shown, seen map[string][]string) {
	j.Partition = l.word(keyPartition)
	if l.word(keyBatchFlag) == "1" { // what has no script has a host for it too
		hosts := l.span(keyNodeList, keyNumNodes)
		if at := strings.LastIndex(hosts, " BatchHost="); at >= 0 {
			j.batchHost = text(wordOf(hosts[at+len(" BatchHost="):]))
		}
	}
	if list := text(l.word(keyNodeList)); list != "" {
		j.Nodes = hostFirst(e.nodes(list, seen), j.batchHost)
	}
	_, most := ends(l.word(keyNumNodes))
	j.Want, j.maxNodes = e.count("NumNodes", l.word(keyNumNodes)), e.count("NumNodes", most)
	j.CPUs, j.Tasks = e.count("NumCPUs", l.word(keyNumCPUs)), e.count("NumTasks", l.word(keyNumTasks))
	counted := l.span(keyCPUsPerTask, keyMinCPUs)
	for _, key := range []string{"TRES", "AllocTRES", "ReqTRES"} { // the first is of releases until 23.02
		if j.tres == "" {
			j.tres = text(field(counted, key))
		}
	}
	j.minCPUs = e.count("MinCPUsNode", l.word(keyMinCPUs))
	if _, memory, found := strings.Cut(l.span(keyMinCPUs, keyMinTmpDisk), " MinMemory"); found {
		per, amount, _ := strings.Cut(wordOf(memory), "=")
		j.memoryPer, j.minMemory = per, e.memory("MinMemory"+per, amount)
	}
	j.features, j.overSubscribe = text(l.span(keyFeatures, keyDelayBoot)), text(l.word(keyOverSubscribe))
	_, slot, _ := strings.Cut(l.span(keyDelayBoot, keyOverSubscribe), " ")
	name, first := strings.CutPrefix(slot, "Reservation=")
	if first {
		j.Reservation = text(name)
	} else if strings.Contains(slot, " Reservation=") { // behind features of clusters, of which a user writes what he likes
		j.doubt |= ofMiddle
	}
	j.plain = (slot == "" || first) && !strings.Contains(l.line[l.at[keyEndTime]:l.at[keyPartition]], " CrontabSpec=")
}

// afterComment is what may follow a comment, where it is not the paths of a script.
var afterComment = regexp.MustCompile(` (Extra|Switches|BurstBuffer|BurstBufferState|CPU\w*|Power|Gres\w+|KillOInInvalidDependent|SpreadJob|OOMKillStep|` +
	`CpusPerTres|MemPerTres|Tres\w+|MailUser|NtasksPerTRES|Container|SELinuxContext|ResvPorts)=`)

// commentOf is the comment of a job with or without a script among what users wrote, or what its user made look like it.
func commentOf(free string, script bool) string {
	_, c, found := strings.Cut(free, " Comment=")
	if !found {
		return ""
	}
	if script {
		if at := strings.LastIndex(c, " StdErr="); at >= 0 {
			c = c[:at]
		}
		if at := strings.LastIndex(c, " Extra="); at >= 0 {
			c = c[:at]
		}
	} else if at := afterComment.FindStringIndex(c); at != nil {
		c = c[:at[0]]
	}
	return comment(strings.TrimRight(c, " \n"))
}

// parseShown reads all jobs of an answer to `show job` whose records have a certain begin; known is what is known of a job
// from before. The jobs that may have the others are undecided.
func parseShown(out, stamp string, known func(core.JobID) *record) (jobs []shown, undecided [][]core.JobID, err error) {
	for strings.HasSuffix(out, client.Prompt) {
		out = strings.TrimSuffix(out, client.Prompt)
	}
	cuts, err := cutJobs(out, stamp)
	if err != nil {
		return nil, nil, err
	}
	undecided = resolve(out, cuts, stamp, known)
	r := reader{stamp: stamp, nodes: map[string][]string{}}
	jobs = make([]shown, 0, len(cuts))
	odd, even := 0, 0
	for i, c := range cuts {
		if len(c.rivals) > 0 {
			continue
		}
		end, how, beyond := len(out), closed, ""
		if i < len(cuts)-1 {
			next := &cuts[i+1]
			if end, how = next.at, next.ends(); how != closed {
				beyond = out[end : end+max(0, strings.LastIndex(out[end:next.stamped], keys[keyJobState]))]
			}
		}
		j := r.read(strings.TrimRight(out[c.at:end], "\n"), c.id, c.stamped-c.at, how, beyond)
		switch {
		case how != closed: // its own text may have cut it short
		case j.odd:
			odd++
		default:
			even++
		}
		jobs = append(jobs, j)
	}
	if odd > even {
		return nil, nil, fmt.Errorf("scontrol: %d jobs lack one of the keys%s: %w", odd, strings.Join(keys[:], ""), errForm)
	}
	return jobs, undecided, nil
}
