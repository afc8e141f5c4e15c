package jobs

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/number"
	"accordion/slurm/output"
)

// This file parses a job's record as a console shows it. Before that, layout.go finds the keys.

// A `shown` is a job's record as a console shows it.
type shown struct {
	output.Record        // `finish` adds the fields that depend on the state
	doubt         doubt  // the uncertain fields
	known         bool   // the uncertain fields were filled in from a verified record
	incomplete    bool   // a key is missing
	marked        bool   // a text looks like a mark
	text          string // the text from which the uncertain fields were read; as long as it stays the same, so do the fields
	plain         bool   // only the host of submission could forge the first keys of the middle
	open          bool   // the record's end is uncertain

	middleError string // why the middle part cannot be parsed at the positions found from the front

	word, tasks     string // the name of the state in Slurm; the task ids of an array
	start, eligible core.Time
}

// doubt is a set of uncertain fields.
type doubt int

const (
	ofHead   doubt = 1 << iota // name, owner, priority, account, QOS
	ofMiddle                   // partition, nodes, requested resources, reservation
	ofMark                     // the mark and the fields that depend on it, because a user's text can look like a mark
	ofState                    // everything, because no known release has records of this form
)

// read parses a record. `stamped` is the position of its time of submission. `beyond` is the text after the record
// that may also belong to it.
func (r *reader) read(line string, id core.JobID, stamped int, end ending, beyond string) shown {
	line = strings.Clone(line) // a copy, so that the record does not keep the text of the whole list in memory
	l := layout{line: line}
	e := output.Reader{}
	j := shown{open: end == open}
	j.ID, j.Submitted = id, e.Instant("SubmitTime", strings.TrimPrefix(wordOf(line[stamped+len(keys[keySubmitTime]):]), r.stamp))
	j.doubt, j.incomplete = l.locate(stamped)
	j.marked = j.doubt&ofMark != 0
	if j.doubt&ofState == 0 {
		j.word, j.Why, j.DependsOn = l.word(keyJobState), output.Text(l.word(keyReason)), output.Text(l.word(keyDependency))
		j.Limit = e.Limit("TimeLimit", l.word(keyTimeLimit))
		at := func(name string, key int) core.Time { return e.Instant(name, strings.TrimPrefix(l.word(key), r.stamp)) }
		if least := output.Text(output.Field(l.span(keyTimeLimit, keySubmitTime), "TimeMin")); least != "" {
			j.MinTime = e.Limit("TimeMin", least)
		}
		if _, deadline, found := strings.Cut(l.line[l.at[keyEndTime]+1:], " "); found { // no user's text precedes this key in the slot
			j.Deadline = e.Instant("Deadline", strings.TrimPrefix(output.Field(wordOf(deadline), "Deadline"), r.stamp))
		}
		j.start, j.eligible = at("StartTime", keyStartTime), at("EligibleTime", keyEligibleTime)
		if resized := output.Field(l.span(keyEligibleTime, keyStartTime), "ResizeTime"); resized != "" {
			j.Resized = e.Instant("ResizeTime", strings.TrimPrefix(resized, r.stamp))
		}
	}
	l.numbers(&e, &j)
	if j.doubt&ofHead == 0 {
		l.head(&e, &j)
	}
	if l.whole {
		middle := output.Reader{}
		if l.middle(&middle, &j, r.nodes); middle.Err != nil {
			j.middleError = middle.Err.Error()
		}
		j.Comment = commentOf(line[l.at[keyWorkDir]:], l.word(keyBatchFlag) == "1")
	}
	j.Upfront = j.doubt&ofMiddle == 0 && end == closed
	switch end {
	case open:
		j.doubt |= ofMiddle | ofMark
	case likely:
		j.doubt |= ofMiddle
	}
	if j.doubt != 0 {
		j.text = l.doubtful(j.doubt) + beyond
	}
	if e.Err != nil {
		j.Unreadable = e.Err.Error()
	}
	return j
}

// take fills the uncertain fields from a verified record, unless that record removes the doubt.
func (j *shown) take(r *output.Record) {
	j.known = true
	if j.plain && r.Upfront {
		j.doubt &^= ofMiddle
		j.Upfront = true
	}
	if j.open && r.Mark == "" && !j.marked {
		j.doubt &^= ofMark
	}
	if j.doubt&ofState != 0 {
		j.Record = *r
		return
	}
	if j.doubt&ofHead != 0 {
		j.Name, j.User, j.UID, j.GID, j.Account, j.QOS, j.Priority, j.Nice = r.Name, r.User, r.UID, r.GID, r.Account, r.QOS, r.Priority, r.Nice
	}
	if j.doubt&ofMiddle != 0 {
		j.middleError = r.Unreadable
		j.Partition, j.Nodes, j.BatchHost, j.Reservation = r.Partition, r.Nodes, r.BatchHost, r.Reservation
		j.Want, j.MaxNodes, j.Tasks, j.CPUs = r.Want, r.MaxNodes, r.Tasks, r.CPUs
		j.MinCPUs, j.MinMemory, j.MemoryPer, j.MinDisk, j.Upfront = r.MinCPUs, r.MinMemory, r.MemoryPer, r.MinDisk, r.Upfront
		j.OverSubscribe, j.Features, j.TRES = r.OverSubscribe, r.Features, r.TRES
	}
	if j.doubt&(ofMark|ofMiddle) != 0 {
		j.Comment = r.Comment
	}
	j.Unverified = r.Unverified && j.doubt != 0
	if j.doubt&ofMark != 0 {
		j.Mark, j.TRESPerNode, j.TRESPerJob, j.TRESPerTask = r.Mark, r.TRESPerNode, r.TRESPerJob, r.TRESPerTask
	}
}

// over reports whether the job has ended and holds no nodes.
func (j *shown) over() bool {
	s, _ := output.StateOf(j.word)
	return s == adapter.Done
}

// finish sets the fields that follow from the state.
func (j *shown) finish() {
	if j.doubt&ofState == 0 {
		j.Unreadable = cmp.Or(j.Unreadable, j.middleError)
		j.SetState(j.word, j.tasks, j.start, j.eligible)
	}
}

// numbers parses the numbers at the beginning of the record.
func (l *layout) numbers(e *output.Reader, j *shown) {
	numbers, _, _ := strings.Cut(l.line, keyName)
	if array := output.Field(numbers, "ArrayJobId"); array != "" {
		j.Array, j.tasks = core.JobID(e.Number("ArrayJobId", array)), output.Field(numbers, "ArrayTaskId")
		if most := output.Field(numbers, "ArrayTaskThrottle"); most != "" {
			j.AtOnce = e.Count("ArrayTaskThrottle", most)
		}
	} else if output.Field(numbers, "HetJobId") != "" {
		j.Unfit = output.UnfitHet
	}
}

// keyName is the key after the numbers. The name ends at Slurm's next key.
const keyName = " JobName="

// head parses name, owner and rank.
func (l *layout) head(e *output.Reader, j *shown) {
	_, name, _ := strings.Cut(l.line[:l.at[keyUser]], keyName)
	if j.Unfit == output.UnfitHet {
		name = name[:max(0, strings.LastIndex(name, " HetJobIdSet="))]
	}
	j.Name = output.Text(name)
	j.User, j.UID = nameAndNumber(e, "UserId", l.span(keyUser, keyGroup))
	_, j.GID = nameAndNumber(e, "GroupId", l.span(keyGroup, keyMcsLabel))
	j.Priority, j.Nice = e.Number("Priority", l.word(keyPriority)), e.Signed("Nice", l.word(keyNice))
	j.Account, j.QOS = output.Text(l.span(keyAccount, keyQOS)), output.Text(l.word(keyQOS))
}

// nameAndNumber parses a user or group such as alice(1001).
func nameAndNumber(e *output.Reader, key, s string) (string, uint32) {
	at := strings.LastIndexByte(s, '(')
	if at < 0 || !strings.HasSuffix(s, ")") {
		e.Fail(key, fmt.Errorf("%q is not a name with its id: %w", s, output.ErrForm))
		return "", 0
	}
	return s[:at], uint32(e.Number(key, s[at+1:len(s)-1]))
}

// middle parses the job's nodes and requests, at the first possible positions.
func (l *layout) middle(e *output.Reader, j *shown, seen map[string][]string) {
	j.Partition = l.word(keyPartition)
	if l.word(keyBatchFlag) == "1" { // without a script, the key BatchHost has the submitting host
		hosts := l.span(keyNodeList, keyNumNodes)
		if at := strings.LastIndex(hosts, " BatchHost="); at >= 0 {
			j.BatchHost = output.Text(wordOf(hosts[at+len(" BatchHost="):]))
		}
	}
	if list := output.Text(l.word(keyNodeList)); list != "" {
		j.Nodes = output.HostFirst(e.Nodes(list, seen), j.BatchHost)
	}
	_, most := number.RangeEnds(l.word(keyNumNodes))
	j.Want, j.MaxNodes = e.Count("NumNodes", l.word(keyNumNodes)), e.Count("NumNodes", most)
	j.CPUs, j.Tasks = e.Count("NumCPUs", l.word(keyNumCPUs)), e.Count("NumTasks", l.word(keyNumTasks))
	counted := l.span(keyCPUsPerTask, keyMinCPUs)
	for _, key := range []string{"TRES", "AllocTRES", "ReqTRES"} { // releases before 23.11 print the first of these keys
		if j.TRES == "" {
			j.TRES = output.Text(output.Field(counted, key))
		}
	}
	j.MinCPUs = e.Count("MinCPUsNode", l.word(keyMinCPUs))
	if _, memory, found := strings.Cut(l.span(keyMinCPUs, keyMinTmpDisk), " MinMemory"); found {
		per, amount, _ := strings.Cut(wordOf(memory), "=")
		j.MemoryPer, j.MinMemory = per, e.Memory("MinMemory"+per, amount)
	}
	j.MinDisk = e.Memory("MinTmpDiskNode", l.word(keyMinTmpDisk))
	j.Features, j.OverSubscribe = output.Text(l.span(keyFeatures, keyDelayBoot)), output.Text(l.word(keyOverSubscribe))
	_, slot, _ := strings.Cut(l.span(keyDelayBoot, keyOverSubscribe), " ")
	name, first := strings.CutPrefix(slot, "Reservation=")
	if first {
		j.Reservation = output.Text(name)
	} else if strings.Contains(slot, " Reservation=") { // cluster features, which users write, precede it
		j.doubt |= ofMiddle
	}
	j.plain = (slot == "" || first) && !strings.Contains(l.line[l.at[keyEndTime]:l.at[keyPartition]], " CrontabSpec=")
}

// afterComment matches the keys that may follow a comment, except those of a script's paths.
var afterComment = regexp.MustCompile(` (Extra|Switches|BurstBuffer|BurstBufferState|CPU\w*|Power|Gres\w+|KillOInInvalidDependent|SpreadJob|OOMKillStep|` +
	`CpusPerTres|MemPerTres|Tres\w+|MailUser|NtasksPerTRES|Container|SELinuxContext|ResvPorts)=`)

// commentOf returns the comment of a job with or without a script from the users' texts. A user can forge it.
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
	return output.Comment(strings.TrimRight(c, " \n"))
}

// parseShown parses an answer to `show job`. `known` returns the last verified record of a job. parseShown returns
// the jobs whose records have a certain beginning. For each of the other records, `undecided` has the possible
// numbers.
func parseShown(out, stamp string, known func(core.JobID) *output.Record) (jobs []shown, undecided [][]core.JobID, err error) {
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
		case how != closed: // a user's text may make the record seem to end too early
		case j.incomplete:
			odd++
		default:
			even++
		}
		jobs = append(jobs, j)
	}
	if odd > even {
		return nil, nil, fmt.Errorf("scontrol: %d jobs lack one of the keys%s: %w", odd, strings.Join(keys[:], ""), output.ErrForm)
	}
	return jobs, undecided, nil
}
