package jobs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/output"
)

// This file decides where a record begins that may begin at several places, without a look at what users may have written there:
//
//   - a number is one job's: where it is another record's, it is not this one's;
//   - a job that was there at the last reading is there, for those that are over stay for a while; its number, the second of its
//     submission and its owner are what they were. So where only one record can be its, that one is.
//
// Both say more with each record that is decided. They leave new jobs, jobs of one user and one second that name
// each other, and jobs that name themselves. These are asked for one by one.

// A ambiguousRecord is a record that may begin at several places.
type ambiguousRecord struct {
	*cut
	left     []begin      // of its places
	possible []core.JobID // jobs that are known and may be this one
	decided  bool         // whose it is
}

// resolve decides between rivals by what is known of jobs. It returns the numbers at the places of each record that remains
// undecided, of jobs that are not over.
func resolve(out string, cuts []cut, stamp string, known func(core.JobID) *output.Record) (undecided [][]core.JobID) {
	var blurs []*ambiguousRecord
	taken := map[core.JobID]bool{}
	for i := range cuts {
		c := &cuts[i]
		if len(c.rivals) == 0 {
			taken[c.id] = true
			continue
		}
		b := &ambiguousRecord{cut: c, left: append([]begin{c.begin}, c.rivals...)}
		b.know(out, stamp, known)
		blurs = append(blurs, b)
	}
	for exclude(blurs, taken) || recognize(blurs, taken) {
	}
	for _, b := range blurs {
		b.begin, b.rivals = b.left[0], b.left[1:]
		if len(b.rivals) > 0 && !isOver(out[:b.stamped]) {
			undecided = append(undecided, numbersAt(b.left))
		}
	}
	return undecided
}

// know finds the jobs that are known and may be this one: of this second, with their owner in what stands before the state.
func (b *ambiguousRecord) know(out, stamp string, known func(core.JobID) *output.Record) {
	submitted := strings.TrimPrefix(wordOf(out[b.stamped+len(keys[keySubmitTime]):]), stamp)
	head := out[b.at:b.stamped]
	head = head[:max(0, strings.LastIndex(head, keys[keyJobState]))]
	for _, id := range numbersAt(b.left) {
		r := known(id)
		if r != nil && r.State != adapter.Done && submitted == strconv.FormatInt(r.Submitted, 10) && strings.Contains(head, ownerOf(r)) {
			b.possible = append(b.possible, id)
		}
	}
}

// ownerOf is how the owner of a job stands in its record.
func ownerOf(r *output.Record) string { return fmt.Sprintf("%s%s(%d) ", keys[keyUser], r.User, r.UID) }

// numbersAt are the numbers at some places, each once.
func numbersAt(places []begin) []core.JobID {
	ids := make([]core.JobID, 0, len(places))
	for _, p := range places {
		ids = append(ids, p.id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// exclude takes away the places whose number is another record's, and says whether that decided anything.
func exclude(blurs []*ambiguousRecord, taken map[core.JobID]bool) bool {
	some := false
	for _, b := range blurs {
		if b.decided {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(b.left), func(p begin) bool { return taken[p.id] })
		if len(left) == 0 {
			continue // a record of nobody: something is not as it should be, and it stays undecided
		}
		if b.left = left; len(numbersAt(left)) == 1 {
			b.decided, taken[left[0].id], some = true, true, true
		}
	}
	return some
}

// recognize decides the records that alone can be that of a job that is known, and says whether there were any.
func recognize(blurs []*ambiguousRecord, taken map[core.JobID]bool) bool {
	claims := map[core.JobID]int{}
	for _, b := range blurs {
		for _, id := range b.possible {
			if !b.decided {
				claims[id]++
			}
		}
	}
	some := false
	for _, b := range blurs {
		if b.decided {
			continue
		}
		mine := slices.DeleteFunc(slices.Clone(b.possible), func(id core.JobID) bool { return taken[id] || claims[id] > 1 })
		if len(mine) != 1 { // none, or two of which one must be gone
			continue
		}
		b.left = slices.DeleteFunc(b.left, func(p begin) bool { return p.id != mine[0] })
		b.decided, taken[mine[0]], some = true, true, true
	}
	return some
}

// isOver says whether a job is, of whose record a text shows all before its time of submission.
func isOver(text string) bool {
	at := strings.LastIndex(text, keys[keyJobState])
	if at < 0 {
		return false
	}
	s, _ := output.StateOf(wordOf(text[at+len(keys[keyJobState]):]))
	return s == adapter.Done
}
