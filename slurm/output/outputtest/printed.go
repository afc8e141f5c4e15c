package outputtest

import (
	"fmt"
	"strings"
)

// A Printed is a job that can be printed as squeue and a console print it. Its owner's texts can be any texts.
type Printed struct {
	ID        int
	Submitted int
	User      string
	UID       int
	Priority  int
	State     string
	Nodes     string // "" while the job is pending
	Mark      string
	Reserved  string
	Deadline  int // 0 means no deadline
	MinTime   int // minutes; 0 means not set
	Array     int // 0 if the job is not in an array
	Task      string

	Words // texts of the job's owner
}

// Words are the texts that the owner of a job can choose freely.
type Words struct{ Name, Account, Label, Host, Features, Network, Command, Comment, Output string }

// Line returns the job as a console of 22.05 prints it. 26.05 prints the keys after the command in another order.
func (p *Printed) Line(stamp string) string {
	null := func(s string) string {
		if s == "" {
			return "(null)"
		}
		return s
	}
	deadline, least := "N/A", "N/A"
	if p.Deadline > 0 {
		deadline = fmt.Sprint(stamp, p.Deadline)
	}
	if p.MinTime > 0 {
		least = fmt.Sprintf("00:%02d:00", p.MinTime)
	}
	var b strings.Builder
	numbers := fmt.Sprint(p.ID)
	if p.Array > 0 {
		numbers = fmt.Sprintf("%d ArrayJobId=%d ArrayTaskId=%s", p.ID, p.Array, p.Task)
	}
	fmt.Fprintf(&b, "JobId=%s JobName=%s UserId=%s(%d) GroupId=users(100) MCS_label=%s Priority=%d Nice=0 Account=%s QOS=normal JobState=%s Reason=None Dependency=(null) "+
		"Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0 RunTime=00:00:00 TimeLimit=00:10:00 TimeMin=%s SubmitTime=%s%d EligibleTime=%s%d AccrueTime=Unknown "+
		"StartTime=%s%d EndTime=%s%d Deadline=%s SuspendTime=None SecsPreSuspend=0 LastSchedEval=%s%d Scheduler=Main Partition=main AllocNode:Sid=%s:77 ReqNodeList=(null) "+
		"ExcNodeList=(null) NodeList=%s ", numbers, null(p.Name), p.User, p.UID, null(p.Label), p.Priority, null(p.Account), p.State, least, stamp, p.Submitted, stamp, p.Submitted,
		stamp, p.Submitted, stamp, p.Submitted+600, deadline, stamp, p.Submitted, p.Host, p.Nodes)
	if p.Nodes != "" {
		fmt.Fprintf(&b, "BatchHost=%s ", p.Nodes)
	}
	b.WriteString("NumNodes=1 NumCPUs=4 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:* TRES=cpu=4,node=1 Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=* MinCPUsNode=1 MinMemoryNode=0 " +
		"MinTmpDiskNode=0 Features=(null) DelayBoot=00:00:00 ")
	if p.Features != "" {
		fmt.Fprintf(&b, "ClusterFeatures=%s ", p.Features)
	}
	if p.Reserved != "" {
		fmt.Fprintf(&b, "Reservation=%s ", p.Reserved)
	}
	fmt.Fprintf(&b, "OverSubscribe=NO Contiguous=0 Licenses=(null) Network=%s Command=%s SubmitLine=sbatch %s WorkDir=/home/%s", null(p.Network), p.Command, p.Command, p.User)
	if p.Mark != "" {
		fmt.Fprintf(&b, " AdminComment=%s ", p.Mark)
	}
	if p.Comment != "" {
		fmt.Fprintf(&b, " Comment=%s ", p.Comment)
	}
	fmt.Fprintf(&b, " StdErr=%s StdIn=/dev/null StdOut=%s Power= \n", p.Output, p.Output)
	return b.String()
}

// Row returns the job's row in squeue's list.
func (p *Printed) Row(word string) string {
	null := func(s string) string {
		if s == "" {
			return "(null)"
		}
		return s
	}
	host := p.Nodes
	if host == "" {
		host = "n/a"
	}
	deadline := "N/A"
	if p.Deadline > 0 {
		deadline = fmt.Sprint(p.Deadline)
	}
	array, task := p.ID, "N/A"
	if p.Array > 0 {
		array, task = p.Array, p.Task
	}
	plain := fmt.Sprintf("%d|%d|%s|N/A|1|%s|%s|%d|100|main|normal|1|1|1|4|10:00|%d|%d|%d|%d|0|%s|(null)|%s|%s|1|0|NO|cpu=4,node=1|%s|%d:00|None",
		p.ID, array, task, p.State, p.User, p.UID, p.Submitted, p.Submitted, p.Submitted, p.Priority, null(p.Reserved), host, p.Nodes, deadline, p.MinTime)
	return strings.Join([]string{plain, null(p.Mark), null(p.Name), null(p.Comment), null(p.Account), "(null)", p.Host, "N/A", "N/A", "N/A", ""}, word) + "\n"
}
