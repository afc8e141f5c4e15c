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

// This file decides where a record begins if several positions are possible. It uses only facts that users cannot
// forge:
//
//   - A number belongs to one job. If it is the number of another record, it is not the number of this one.
//   - A job of the last reading is still listed, because ended jobs stay for a while. Its number, time of submission and owner are unchanged. If
//     only one record can belong to the job, that record does.
//
// With each decided record the two rules may decide further records. There are three kinds of jobs whose records they
// cannot decide: new jobs; jobs of one user and one second whose texts contain each other's numbers; and jobs whose
// texts contain their own number. These jobs are read one by one.

// An ambiguousRecord is a record that may begin at several positions.
type ambiguousRecord struct {
	*cut
	left     []begin      // remaining positions
	possible []core.JobID // known jobs that may own the record
	decided  bool         // the owner of the record is found
}

// resolve uses the known jobs to decide between rival positions. For each undecided record it returns the job
// numbers at the possible positions, without ended jobs.
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

// know finds the known jobs that may own the record. They were submitted in the record's second, and the text
// before the state names their owner.
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

// ownerOf returns the text by which a record shows the owner of a job.
func ownerOf(r *output.Record) string { return fmt.Sprintf("%s%s(%d) ", keys[keyUser], r.User, r.UID) }

// numbersAt returns the numbers at some positions, each once.
func numbersAt(places []begin) []core.JobID {
	ids := make([]core.JobID, 0, len(places))
	for _, p := range places {
		ids = append(ids, p.id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// exclude removes the positions with a number that belongs to another record. It reports whether that decided any
// record.
func exclude(blurs []*ambiguousRecord, taken map[core.JobID]bool) bool {
	some := false
	for _, b := range blurs {
		if b.decided {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(b.left), func(p begin) bool { return taken[p.id] })
		if len(left) == 0 {
			continue // no job can own this record, which should not happen; the record stays undecided
		}
		if b.left = left; len(numbersAt(left)) == 1 {
			b.decided, taken[left[0].id], some = true, true, true
		}
	}
	return some
}

// recognize decides each record that is the only possible record of a known job. It reports whether it decided any
// record.
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
		if len(mine) != 1 { // either no record fits, or two do, of which one belongs to an ended job
			continue
		}
		b.left = slices.DeleteFunc(b.left, func(p begin) bool { return p.id != mine[0] })
		b.decided, taken[mine[0]], some = true, true, true
	}
	return some
}

// isOver reports whether a job has ended, given its record's text before the time of submission.
func isOver(text string) bool {
	at := strings.LastIndex(text, keys[keyJobState])
	if at < 0 {
		return false
	}
	s, _ := output.StateOf(wordOf(text[at+len(keys[keyJobState]):]))
	return s == adapter.Done
}
