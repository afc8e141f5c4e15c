package sacct

import (
	"errors"
	"fmt"
	"time"

	"accordion/core"
	"accordion/traces/swf"
)

// statuses maps Slurm's states to statuses of the workload format. All other states are unknown. A job that ended
// because of its time limit or a lost node has failed.
var statuses = map[string]swf.Status{
	"COMPLETED": swf.Completed, "CANCELLED": swf.Cancelled, "REVOKED": swf.Cancelled, "PREEMPTED": swf.Cancelled, "REQUEUED": swf.Cancelled,
	"FAILED": swf.Failed, "TIMEOUT": swf.Failed, "NODE_FAIL": swf.Failed, "BOOT_FAIL": swf.Failed, "OUT_OF_MEMORY": swf.Failed, "DEADLINE": swf.Failed,
}

// numbering gives each name a number, from 1 in order of appearance.
type numbering struct {
	numbers map[string]int32
	names   []string
}

func (n *numbering) of(name string) int32 {
	if name == "" {
		return swf.Unknown
	}
	number, ok := n.numbers[name]
	if !ok {
		if n.numbers == nil {
			n.numbers = map[string]int32{}
		}
		n.names = append(n.names, name)
		number = int32(len(n.names))
		n.numbers[name] = number
	}
	return number
}

// workload returns the jobs as a log, in the order of submission.
func workload(jobs []jobRows) (*swf.Log, error) {
	if len(jobs) == 0 {
		return nil, errors.New("no job that has ended")
	}
	log := &swf.Log{Records: make([]swf.Record, 0, len(jobs))}
	var groups [5]numbering
	zero := jobs[0].first().submit
	free := int64(0)
	for _, j := range jobs {
		free = max(free, j.first().id+1)
	}
	used := make(map[int64]bool, len(jobs))
	for _, j := range jobs {
		r := j.record(zero, &groups)
		if used[r.Number] {
			r.Number = free
			free++
		}
		used[r.Number] = true
		if ep := j.profile(); ep != nil {
			if log.EPs == nil {
				log.EPs = map[int64]core.EP{}
			}
			log.EPs[r.Number] = ep
			size := int32(ep.Peak())
			r.Processors, r.RequestedProcessors, r.RequestedTime = size, size, ep.Total()
		}
		log.Records = append(log.Records, r)
	}
	log.Header = header(jobs, zero, groups[3].names, groups[4].names)
	return log, nil
}

// record returns one job, without its profile.
func (l jobRows) record(zero core.Time, groups *[5]numbering) swf.Record {
	first, last := l.first(), l.last()
	status, known := statuses[last.state]
	if !known {
		status = swf.Unknown
	}
	r := swf.Record{
		Number: first.id, Submit: first.submit - zero, Wait: swf.Unknown, Run: 0, Processors: swf.Unknown, CPU: swf.Unknown,
		UsedMemory: swf.Unknown, RequestedProcessors: int32(max(first.asked, 1)), RequestedTime: first.limit,
		RequestedMemory: swf.Unknown, Status: status, Preceding: swf.Unknown, Think: swf.Unknown,
	}
	if r.RequestedTime == 0 {
		r.RequestedTime = swf.Unknown
	}
	if first.asked < 0 {
		r.RequestedProcessors = swf.Unknown
	}
	for i, into := range []*int32{&r.User, &r.Group, &r.Application, &r.Queue, &r.Partition} {
		*into = groups[i].of(first.groups[i])
	}
	if first.start == 0 || first.got == 0 || status == swf.Cancelled && first.start == last.end {
		return r // the job never started, so only its request is known; its start may be the second of its cancellation
	}
	r.Wait, r.Run = max(first.start-first.submit, 0), last.end-first.start
	r.Processors, r.RequestedProcessors = int32(first.got), int32(max(first.got, first.asked))
	if len(l.rows) == 1 && len(l.companions) == 0 && first.cpu >= 0 { // the rows of a resized job share its steps, and its companions have their own steps
		r.CPU = first.cpu / float64(first.got)
	}
	return r
}

// header returns the log's start time, and the names of its queues and partitions.
func header(jobs []jobRows, zero core.Time, queues, partitions []string) (h swf.Header) {
	end := zero
	for _, j := range jobs {
		end = max(end, j.last().end)
	}
	count := fmt.Sprint(len(jobs))
	for _, f := range [][2]string{
		{"Version", "2.2"}, {"Conversion", "accordion trace from-sacct"}, {"MaxJobs", count}, {"MaxRecords", count},
		{"UnixStartTime", fmt.Sprint(zero)},
		{"StartTime", time.Unix(zero, 0).UTC().Format(time.UnixDate)}, {"EndTime", time.Unix(end, 0).UTC().Format(time.UnixDate)},
		{"Note", "from Slurm's accounting; processors are what a job got, queues are its QOS, groups its accounts"},
	} {
		h.Add(f[0], f[1])
	}
	h.Add("MaxQueues", fmt.Sprint(len(queues)))
	for i, name := range queues {
		h.Add("Queue", fmt.Sprintf("%d %s", i+1, name))
	}
	h.Add("MaxPartitions", fmt.Sprint(len(partitions)))
	for i, name := range partitions {
		h.Add("Partition", fmt.Sprintf("%d %s", i+1, name))
	}
	return h
}
