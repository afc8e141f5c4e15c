package advise

import (
	"fmt"

	"accordion/core"
	"accordion/traces/swf"
)

// FromLog returns the jobs of a workload log as runs, one per record. Times are in Unix time if the log has its start. Runs of the same job
// have the same user, group, executable, queue and partition. `unnamed` is true if the log has no executables: then all jobs of a user in a
// queue count as the same job.
//
// A record without run time or size becomes a run that did not complete, and so does a job that reached its time limit. A job without status
// counts as completed.
func FromLog(log *swf.Log) (runs []Run, unnamed bool) {
	unnamed = true
	begin, _ := log.Header.UnixStart()
	runs = make([]Run, len(log.Records))
	n := namer{}
	for i := range log.Records {
		r := &log.Records[i]
		unnamed = unnamed && r.Application <= 0
		runs[i] = n.run(r, begin)
	}
	return runs, unnamed
}

// namer returns the names of users, groups, queues and executables, of which a log has only numbers. It keeps
// one copy of each name.
type namer map[[3]int32]string

// The kinds of names.
const (
	users = iota
	groups
	queues
	executables
)

func (n namer) run(r *swf.Record, begin core.Time) Run {
	start := begin + r.Submit + max(r.Wait, 0)
	size := max(int(r.Size()), 0)
	ended := r.Status == swf.Completed || r.Status == swf.Unknown
	met := r.RequestedTime > 0 && r.Run >= r.RequestedTime
	return Run{
		ID: fmt.Sprint(r.Number), User: n.name(users, r.User, 0), Account: n.name(groups, r.Group, 0), Partition: n.name(queues, r.Queue, r.Partition),
		Name: n.name(executables, r.Application, 0), Submit: begin + r.Submit, Start: start, End: start + max(r.Run, 0), Requested: size, Held: size,
		Limit: max(r.RequestedTime, 0), Completed: ended && !met && r.Submit >= 0 && r.Run > 0 && size > 0, Exact: true, Script: -1,
	}
}

// name returns the name of the user, group, queue or executable with a number. For a queue, `more` is its
// partition.
func (n namer) name(kind, number, more int32) string {
	key := [3]int32{kind, number, more}
	if known, ok := n[key]; ok {
		return known
	}
	var text string
	switch {
	case kind == queues:
		text = fmt.Sprintf("queue %d of partition %d", number, more)
	case number <= 0 && kind == executables:
		text = "all jobs"
	default:
		text = fmt.Sprintf("%s %d", [...]string{users: "user", groups: "group", executables: "executable"}[kind], number)
	}
	n[key] = text
	return text
}
