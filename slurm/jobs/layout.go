package jobs

import "strings"

// This file finds the keys of a job's record as `scontrol -o show job` prints it: KEY=VALUE pairs on one line, with
// users' texts in between. A user may write any text, including KEY=VALUE, into the job's name, account, MCS label,
// comment, paths and command line.
//
// Every record has each of the keys below once, in this order. So the keys are searched from the front and from the
// back. A key that both searches find at the same position is Slurm's own. To forge it, a user would have to write
// all keys that follow or precede it as well. Keys directly before and after the stamped time of submission, with
// no user's text in between, are Slurm's in any case.
//
// A key that the searches find at two positions is in doubt. list.go describes what happens then. A word in a
// comment or a command line that looks like one of the keys does no harm.

// The keys are in three groups. The first precedes the job's state and follows the job's name, which users choose.
// The third begins with the partition, and users choose some of its hosts and lists.
const (
	keyUser = iota
	keyGroup
	keyMcsLabel
	keyPriority
	keyNice
	keyAccount
	keyQOS

	keyJobState
	keyReason
	keyDependency
	keyBatchFlag
	keyTimeLimit
	keySubmitTime
	keyEligibleTime
	keyStartTime
	keyEndTime

	keyPartition
	keyAllocNode
	keyReqNodes
	keyExcNodes
	keyNodeList
	keyNumNodes
	keyNumCPUs
	keyNumTasks
	keyCPUsPerTask
	keyMinCPUs
	keyMinTmpDisk
	keyFeatures
	keyDelayBoot
	keyOverSubscribe
	keyContiguous
	keyLicenses
	keyNetwork
	keyCommand
	keyWorkDir
	allKeys
)

var keys = [allKeys]string{
	" UserId=", " GroupId=", " MCS_label=", " Priority=", " Nice=", " Account=", " QOS=",
	" JobState=", " Reason=", " Dependency=", " BatchFlag=", " TimeLimit=", " SubmitTime=", " EligibleTime=", " StartTime=", " EndTime=",
	" Partition=", " AllocNode:Sid=", " ReqNodeList=", " ExcNodeList=", " NodeList=", " NumNodes=", " NumCPUs=", " NumTasks=", " CPUs/Task=",
	" MinCPUsNode=", " MinTmpDiskNode=", " Features=", " DelayBoot=", " OverSubscribe=", " Contiguous=", " Licenses=", " Network=", " Command=", " WorkDir=",
}

// A reader parses records one after the other.
type reader struct {
	stamp string
	nodes map[string][]string // host lists seen
}

// A `layout` holds the positions of the keys in a record.
type layout struct {
	line  string
	at    [allKeys]int // position of the blank before each key; the first possible position if in doubt
	back  [allKeys]int // the last possible position of the keys that are also searched from the back
	whole bool         // the keys of the middle were found
}

// forward finds the first occurrence of each of the keys `first` to `last` at or after the position `from`. The
// keys must occur in their order. forward reports whether it found all of them.
func (l *layout) forward(from, first, last int) bool {
	for k := first; k <= last; k++ {
		i := strings.Index(l.line[from:], keys[k])
		if i < 0 {
			return false
		}
		from += i
		l.at[k] = from
	}
	return true
}

// backward finds the last occurrence of each of the keys `first` to `last` before the position `to`. The keys must
// occur in their order. backward reports whether it found all of them.
func (l *layout) backward(places *[allKeys]int, to, first, last int) bool {
	for k := last; k >= first; k-- {
		if to = strings.LastIndex(l.line[:to], keys[k]); to < 0 {
			return false
		}
		places[k] = to
	}
	return true
}

// locate finds the keys and returns which fields are in doubt. A field is in doubt if its key is at another
// position when searched from the back. `incomplete` reports that a key is missing. A user can cause a missing key
// only in the user's own record, by forging that record's end.
func (l *layout) locate(stamped int) (d doubt, incomplete bool) {
	if !l.backward(&l.at, stamped, keyJobState, keyTimeLimit) || !l.forward(stamped, keySubmitTime, keyEndTime) {
		return ofHead | ofMiddle | ofMark | ofState, true
	}
	state, end := l.at[keyJobState], l.at[keyEndTime]
	if !l.forward(0, keyUser, keyQOS) || !l.backward(&l.back, state, keyUser, keyQOS) || l.at[keyQOS] > state {
		d, incomplete = ofHead, true
	}
	if d |= l.differ(keyUser, keyQOS, ofHead); !l.forward(end, keyPartition, keyWorkDir) ||
		!l.backward(&l.back, len(l.line), keyPartition, keyWorkDir) || l.back[keyPartition] < end {
		return d | ofMiddle | ofMark, true
	}
	l.whole = true
	if strings.Contains(l.line[l.at[keyCommand]:], " AdminComment=") {
		d |= ofMark
	}
	return d | l.differ(keyPartition, keyOverSubscribe, ofMiddle), incomplete
}

// differ returns the doubt d if one of the keys is at another position when searched from the back.
func (l *layout) differ(first, last int, d doubt) doubt {
	for k := first; k <= last; k++ {
		if l.at[k] != l.back[k] {
			return d
		}
	}
	return 0
}

// doubtful returns the text from which the fields in doubt are read.
func (l *layout) doubtful(d doubt) string {
	if d&ofState != 0 {
		return l.line
	}
	all := ""
	if d&ofHead != 0 {
		all = l.line[:l.at[keyJobState]]
	}
	switch {
	case !l.whole:
		all += l.line[l.at[keyEndTime]:]
	case d&ofMiddle != 0:
		all += l.line[l.at[keyPartition]:]
	case d&ofMark != 0:
		all += l.line[l.at[keyCommand]:]
	}
	return all
}

// word returns the value of a key whose values contain no blanks.
func (l *layout) word(key int) string { return wordOf(l.line[l.at[key]+len(keys[key]):]) }

// span returns the text between `key` and the later key `next`.
func (l *layout) span(key, next int) string { return l.line[l.at[key]+len(keys[key]) : l.at[next]] }

// wordOf returns the text up to the first blank.
func wordOf(s string) string {
	w, _, _ := strings.Cut(s, " ")
	return w
}
