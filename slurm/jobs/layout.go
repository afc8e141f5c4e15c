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

// A spot is where a key stands: its blank.
type spot struct{ key, at int }

// A reader reads records, one after the other.
type reader struct {
	stamp string
	nodes map[string][]string // host lists seen
	spots []spot              // of the record at hand, in its order
}

// ofLength are the keys by their length.
var ofLength = func() (all [32][]int) {
	for k, name := range keys {
		all[len(name)] = append(all[len(name)], k)
	}
	return all
}()

// keyOf is the key of a name; false: it is none.
func keyOf(name string) (int, bool) {
	if len(name) < len(ofLength) {
		for _, k := range ofLength[len(name)] {
			if keys[k] == name {
				return k, true
			}
		}
	}
	return 0, false
}

// find collects the places of the keys in a record.
func (r *reader) find(line string) {
	r.spots = r.spots[:0]
	for from := 0; ; {
		i := strings.IndexByte(line[from:], '=')
		if i < 0 {
			return
		}
		end := from + i + 1
		if at := strings.LastIndexByte(line[from:end], ' '); at >= 0 {
			if k, ok := keyOf(line[from+at : end]); ok {
				r.spots = append(r.spots, spot{k, from + at})
			}
		}
		from = end
	}
}

// forward takes the first of each of the keys in their order, from a place on. False: one is missing.
func (r *reader) forward(places *[allKeys]int, from, first, last int) bool {
	next := first
	for _, s := range r.spots {
		if s.at >= from && s.key == next {
			places[next] = s.at
			if next++; next > last {
				return true
			}
		}
	}
	return false
}

// backward takes the last of each of the keys in their order, up to a place.
func (r *reader) backward(places *[allKeys]int, to, first, last int) bool {
	next := last
	for i := len(r.spots) - 1; i >= 0; i-- {
		if s := r.spots[i]; s.at < to && s.key == next {
			places[next] = s.at
			if next--; next < first {
				return true
			}
		}
	}
	return false
}

// A layout is where the keys of a record stand.
type layout struct {
	line  string
	at    [allKeys]int // the blank before each key; where it is in doubt, the first place
	back  [allKeys]int // the last place of those that are looked for from the back as well
	whole bool         // the middle is there
}

// lay finds the keys, and says which fields are in doubt: their keys stand elsewhere when looked for from the back, or not at all
// (odd). All a user can do about the latter is to have his record end too early.
func (l *layout) lay(r *reader, stamped int) (d doubt, odd bool) {
	if !r.backward(&l.at, stamped, keyJobState, keyTimeLimit) || !r.forward(&l.at, stamped, keySubmitTime, keyEndTime) {
		return ofHead | ofMiddle | ofMark | ofState, true
	}
	state, end := l.at[keyJobState], l.at[keyEndTime]
	if !r.forward(&l.at, 0, keyUser, keyQOS) || !r.backward(&l.back, state, keyUser, keyQOS) || l.at[keyQOS] > state {
		d, odd = ofHead, true
	}
	if d |= l.differ(keyUser, keyQOS, ofHead); !r.forward(&l.at, end, keyPartition, keyWorkDir) ||
		!r.backward(&l.back, len(l.line), keyPartition, keyWorkDir) || l.back[keyPartition] < end {
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
