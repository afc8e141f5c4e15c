package slurm

import (
	"fmt"
	"strings"
)

// A printed job is one as both clients print it, with whatever its owner wrote: what squeue says of it is the truth.
type printed struct {
	id        int
	submitted int
	user      string
	uid       int
	priority  int
	state     string
	nodes     string // "" while it waits
	mark      string
	reserved  string

	words // its owner's
}

// words are what the owner of a job writes as he likes.
type words struct{ name, account, label, host, features, network, command, comment, output string }

// line is the job as a console of 22.05 shows it (26.05 in the order of what follows the command).
func (p *printed) line(stamp string) string {
	null := func(s string) string {
		if s == "" {
			return "(null)"
		}
		return s
	}
	var b strings.Builder
	fmt.Fprintf(&b, "JobId=%d JobName=%s UserId=%s(%d) GroupId=users(100) MCS_label=%s Priority=%d Nice=0 Account=%s QOS=normal JobState=%s Reason=None Dependency=(null) "+
		"Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0 RunTime=00:00:00 TimeLimit=00:10:00 TimeMin=N/A SubmitTime=%s%d EligibleTime=%s%d AccrueTime=Unknown "+
		"StartTime=%s%d EndTime=%s%d Deadline=N/A SuspendTime=None SecsPreSuspend=0 LastSchedEval=%s%d Scheduler=Main Partition=main AllocNode:Sid=%s:77 ReqNodeList=(null) "+
		"ExcNodeList=(null) NodeList=%s ", p.id, null(p.name), p.user, p.uid, null(p.label), p.priority, null(p.account), p.state, stamp, p.submitted, stamp, p.submitted,
		stamp, p.submitted, stamp, p.submitted+600, stamp, p.submitted, p.host, p.nodes)
	if p.nodes != "" {
		fmt.Fprintf(&b, "BatchHost=%s ", p.nodes)
	}
	b.WriteString("NumNodes=1 NumCPUs=4 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:* TRES=cpu=4,node=1 Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=* MinCPUsNode=1 MinMemoryNode=0 " +
		"MinTmpDiskNode=0 Features=(null) DelayBoot=00:00:00 ")
	if p.features != "" {
		fmt.Fprintf(&b, "ClusterFeatures=%s ", p.features)
	}
	if p.reserved != "" {
		fmt.Fprintf(&b, "Reservation=%s ", p.reserved)
	}
	fmt.Fprintf(&b, "OverSubscribe=NO Contiguous=0 Licenses=(null) Network=%s Command=%s SubmitLine=sbatch %s WorkDir=/home/%s", null(p.network), p.command, p.command, p.user)
	if p.mark != "" {
		fmt.Fprintf(&b, " AdminComment=%s ", p.mark)
	}
	if p.comment != "" {
		fmt.Fprintf(&b, " Comment=%s ", p.comment)
	}
	fmt.Fprintf(&b, " StdErr=%s StdIn=/dev/null StdOut=%s Power= \n", p.output, p.output)
	return b.String()
}

// row is the job as squeue lists it.
func (p *printed) row(word string) string {
	null := func(s string) string {
		if s == "" {
			return "(null)"
		}
		return s
	}
	host := p.nodes
	if host == "" {
		host = "n/a"
	}
	plain := fmt.Sprintf("%d|%d|N/A|N/A|1|%s|%s|%d|100|main|normal|1|1|1|4|10:00|%d|%d|%d|%d|0|%s|(null)|%s|%s|1|0|NO|cpu=4,node=1|None",
		p.id, p.id, p.state, p.user, p.uid, p.submitted, p.submitted, p.submitted, p.priority, null(p.reserved), host, p.nodes)
	return strings.Join([]string{plain, null(p.mark), null(p.name), null(p.comment), null(p.account), "(null)", p.host, "N/A", "N/A", "N/A", ""}, word) + "\n"
}
