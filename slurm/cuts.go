package slurm

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core"
)

// This file finds out where in a console's answer to `show job` the records of the jobs begin. Each is on a line of its own,
// but a user may write line ends into his job's name, account, comment or paths, and whole forged records behind them.
//
// What he cannot write is the console's stamp, which stands in front of each time. So there are as many jobs as stamped
// times of submission, and between two of these exactly one record begins: where only one place looks like it, it does so
// there. Only one who forges beginnings makes more places, and for his own job and the one behind it: the true one is found
// by what is known of the jobs, or, where that does not tell, by asking for each of them alone.

// A cut is where a job's record begins.
type cut struct {
	stamped int // where its time of submission stands: only Slurm can have written that
	begin
	rivals []begin // where it may begin too. The first begin may be the wrong one then
	sole   bool    // there never were any
}

// A begin looks like the begin of a record: JobId=7 JobName=, at the begin of a line.
type begin struct {
	at int
	id core.JobID
}

// ending is how well it is known where a record ends.
type ending int

const (
	closed ending = iota // with the answer, or before the only place at which the next may begin
	likely               // before the place that was recognised as the begin of the next
	open                 // there, or later
)

// ends is how the record before it ends.
func (c *cut) ends() ending {
	switch {
	case c.sole:
		return closed
	case len(c.rivals) == 0:
		return likely
	}
	return open
}

// cutJobs finds the records of an answer.
func cutJobs(out, stamp string) ([]cut, error) {
	submitted := keys[keySubmitTime] + stamp
	const usual = 1000 // bytes of a record
	cuts := make([]cut, 0, len(out)/usual)
	for from := 0; ; {
		i := strings.Index(out[from:], submitted)
		if i < 0 {
			break
		}
		c := cut{stamped: from + i}
		found := begins(out[:c.stamped], from)
		if len(found) == 0 {
			return nil, fmt.Errorf("scontrol: job %d of the list: it has no begin: %w", len(cuts)+1, errForm)
		}
		c.begin = found[0]
		if len(cuts) > 0 { // nobody writes before the first
			c.rivals = found[1:]
		}
		c.sole = len(c.rivals) == 0
		cuts = append(cuts, c)
		from = c.stamped + len(submitted)
	}
	if len(cuts) == 0 && len(begins(out, 0)) > 0 {
		return nil, fmt.Errorf("scontrol: jobs without a time of submission: %w", errForm)
	}
	return cuts, nil
}

// begins finds what looks like the begin of a record, from a place on.
func begins(text string, from int) []begin {
	var found []begin
	for {
		i := strings.Index(text[from:], "JobId=")
		if i < 0 {
			return found
		}
		at := from + i
		from = at + len("JobId=")
		line := strings.TrimSuffix(text[:at], prompt)
		if line != "" && line[len(line)-1] != '\n' {
			continue
		}
		digits, rest, _ := strings.Cut(text[from:min(len(text), from+24)], " ")
		id, err := strconv.ParseUint(digits, 10, 32)
		if err == nil && (strings.HasPrefix(rest, "JobName=") || strings.HasPrefix(rest, "ArrayJobId=") || strings.HasPrefix(rest, "HetJobId=")) {
			found = append(found, begin{at, core.JobID(id)})
		}
	}
}

// resolve decides between rivals: a number is one job's only, so one that is certain elsewhere is none; then that one begins
// there whose job is known, with the same name and owner, and has this time of submission, where it is the only one. It
// returns the numbers at the places of each record that remains undecided, of jobs that are not over.
func resolve(out string, cuts []cut, stamp string, known func(core.JobID) *record) (undecided [][]core.JobID) {
	var blurred []*cut
	for i := range cuts {
		if len(cuts[i].rivals) > 0 {
			blurred = append(blurred, &cuts[i])
		}
	}
	if len(blurred) == 0 {
		return nil
	}
	taken := map[core.JobID]bool{}
	for i := range cuts {
		if len(cuts[i].rivals) == 0 {
			taken[cuts[i].id] = true
		}
	}
	eliminate(blurred, taken)
	saved := make([]cut, len(blurred))
	for i, c := range blurred {
		saved[i] = *c
	}
	recognise(out, blurred, taken, stamp, known)
	if !eliminate(blurred, taken) { // somebody took pains to be mistaken for another
		for i, c := range blurred {
			*c = saved[i]
		}
	}
	for _, c := range blurred {
		if len(c.rivals) > 0 && !isOver(out[:c.stamped]) {
			undecided = append(undecided, c.numbers())
		}
	}
	return undecided
}

// places are all at which the record may begin.
func (c *cut) places() []begin { return append([]begin{c.begin}, c.rivals...) }

// numbers are those of its places, each once.
func (c *cut) numbers() []core.JobID {
	ids := make([]core.JobID, 0, 1+len(c.rivals))
	for _, b := range c.places() {
		ids = append(ids, b.id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// isOver says whether a job is, of whose record a text shows all before its time of submission.
func isOver(text string) bool {
	at := strings.LastIndex(text, keys[keyJobState])
	if at < 0 {
		return false
	}
	s, _ := state(wordOf(text[at+len(keys[keyJobState]):]))
	return s == adapter.Done
}

// eliminate takes away the places whose number is another record's, as long as that decides anything. False: a record has
// none left.
func eliminate(blurred []*cut, taken map[core.JobID]bool) bool {
	for again := true; again; {
		again = false
		for _, c := range blurred {
			if len(c.rivals) == 0 {
				continue
			}
			left := slices.DeleteFunc(c.places(), func(b begin) bool { return taken[b.id] })
			if len(left) == 0 {
				return false
			}
			c.begin, c.rivals = left[0], left[1:]
			if len(left) == 1 {
				taken[c.id], again = true, true
			}
		}
	}
	return true
}

// recognise decides by what is known of the jobs.
func recognise(out string, blurred []*cut, taken map[core.JobID]bool, stamp string, known func(core.JobID) *record) {
	claimed := claims(blurred)
	for _, c := range blurred {
		if len(c.rivals) == 0 {
			continue
		}
		fitting := slices.DeleteFunc(c.places(), func(b begin) bool {
			return !fits(out, b, out[c.stamped+len(keys[keySubmitTime]):], stamp, known(b.id))
		})
		if len(fitting) != 1 || claimed[fitting[0].id] > 1 {
			continue
		}
		// Its name may have changed into one that ends with what it was.
		if first := slices.IndexFunc(c.places(), func(b begin) bool { return b.id == fitting[0].id }); c.places()[first] == fitting[0] {
			c.begin, c.rivals = fitting[0], nil
			taken[c.id] = true
		}
	}
}

// claims counts of how many undecided records each number may be the one.
func claims(blurred []*cut) map[core.JobID]int {
	all := map[core.JobID]int{}
	for _, c := range blurred {
		if len(c.rivals) > 0 {
			for _, id := range c.numbers() {
				all[id]++
			}
		}
	}
	return all
}

// fits says whether the job that is known is the one whose record begins there: the name and the owner that follow are its,
// and so is the time of submission.
func fits(out string, b begin, submitted, stamp string, known *record) bool {
	if known == nil || known.State == adapter.Done || !strings.HasPrefix(submitted, stamp+strconv.FormatInt(known.Submitted, 10)+" ") {
		return false
	}
	_, rest, _ := strings.Cut(out[b.at:], " JobName=")
	rest, named := strings.CutPrefix(rest, cmp.Or(known.Name, "(null)"))
	if set, isHet := strings.CutPrefix(rest, " HetJobIdSet="); named && isHet {
		_, rest, _ = strings.Cut(set, " ")
		rest = " " + rest
	}
	return named && strings.HasPrefix(rest, fmt.Sprintf("%s%s(%d) ", keys[keyUser], known.User, known.UID))
}
