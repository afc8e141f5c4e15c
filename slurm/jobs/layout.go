package jobs

import "strings"

// This file finds the keys of a job's record as `scontrol -o show job` prints it: KEY=VALUE after KEY=VALUE on one line, with
// what users wrote in between. A user may write into his own job's name, account, MCS label, comment, paths and command line
// whatever he likes, also KEY=VALUE.
//
// The keys below are in every record, each once and in this order. So they are looked for from the front and from the back:
// a key that is found at the same place both ways is Slurm's own, for a user would have to write all that follow it, or
// precede it, as well. Keys that stand next to the stamped time of submission, with nothing of a user's in between, are
// Slurm's anyhow. What is found at two places is in doubt: list.go says what becomes of it. A word in a comment or a
// command line that looks like one of the keys does no harm.

// The keys, in three runs: before the state of the job there is its name, and after the partition there are hosts and lists
// of which some are a user's.
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

// A reader reads records, one after the other.
type reader struct {
	stamp string
	nodes map[string][]string // host lists seen
}

// A layout is where the keys of a record stand.
type layout struct {
	line  string
	at    [allKeys]int // the blank before each key; where it is in doubt, the first place
	back  [allKeys]int // the last place of those that are looked for from the back as well
	whole bool         // the middle is there
}

// forward finds the first of each of some keys in their order, from a place on. It reports whether all are there.
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

// backward finds the last of each of some keys in their order, up to a place. It reports whether all are there.
func (l *layout) backward(places *[allKeys]int, to, first, last int) bool {
	for k := last; k >= first; k-- {
		if to = strings.LastIndex(l.line[:to], keys[k]); to < 0 {
			return false
		}
		places[k] = to
	}
	return true
}

// locate finds the keys, and says which fields are in doubt: their keys stand elsewhere when looked for from the back, or not at all
// (odd). All a user can do about the latter is to have his record end too early.
func (l *layout) locate(stamped int) (d doubt, odd bool) {
	if !l.backward(&l.at, stamped, keyJobState, keyTimeLimit) || !l.forward(stamped, keySubmitTime, keyEndTime) {
		return ofHead | ofMiddle | ofMark | ofState, true
	}
	state, end := l.at[keyJobState], l.at[keyEndTime]
	if !l.forward(0, keyUser, keyQOS) || !l.backward(&l.back, state, keyUser, keyQOS) || l.at[keyQOS] > state {
		d, odd = ofHead, true
	}
	if d |= l.differ(keyUser, keyQOS, ofHead); !l.forward(end, keyPartition, keyWorkDir) ||
		!l.backward(&l.back, len(l.line), keyPartition, keyWorkDir) || l.back[keyPartition] < end {
		return d | ofMiddle | ofMark, true
	}
	l.whole = true
	if strings.Contains(l.line[l.at[keyCommand]:], " AdminComment=") {
		d |= ofMark
	}
	return d | l.differ(keyPartition, keyOverSubscribe, ofMiddle), odd
}

// differ is the doubt if one of the keys stands elsewhere when looked for from the back.
func (l *layout) differ(first, last int, d doubt) doubt {
	for k := first; k <= last; k++ {
		if l.at[k] != l.back[k] {
			return d
		}
	}
	return 0
}

// doubtful is the text from which the fields in doubt are read.
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

// word is the value of a key whose values have no blanks.
func (l *layout) word(key int) string { return wordOf(l.line[l.at[key]+len(keys[key]):]) }

// span is all that stands between a key and a later one.
func (l *layout) span(key, next int) string { return l.line[l.at[key]+len(keys[key]) : l.at[next]] }

// wordOf is the text up to the first blank.
func wordOf(s string) string {
	w, _, _ := strings.Cut(s, " ")
	return w
}
