package jobs

import (
	"fmt"
	"strconv"
	"strings"

	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/output"
)

// This file finds where the records of jobs begin in a console's answer to `show job`. Each record is on a line of
// its own. But users may write line breaks and whole forged records into a job's name, account, comment or paths.
//
// A user cannot write the console's stamp, which precedes each time. So there are as many jobs as stamped times of
// submission, and exactly one record begins between two stamped times. If only one position looks like the
// beginning of a record, the record begins there. More positions exist only if a user has forged beginnings. They
// affect only that user's job and the next one. rivals.go then finds the true position.

// A cut is where a job's record begins.
type cut struct {
	stamped int // position of the stamped time of submission, which only Slurm can have written
	begin
	rivals []begin // other positions at which the record may begin. If there are any, the first position may be wrong
	sole   bool    // the record never had rivals
}

// A begin is a position that looks like the beginning of a record: JobId=7 JobName= at the beginning of a line.
type begin struct {
	at int
	id core.JobID
}

// ending is how certain the end of a record is.
type ending int

const (
	closed ending = iota // at the end of the answer, or before the only possible beginning of the next record
	likely               // before the position that rivals.go chose as the beginning of the next record
	open                 // at the first possible beginning of the next record, or later
)

// ends returns how certain the end of the record before the cut is.
func (c *cut) ends() ending {
	switch {
	case c.sole:
		return closed
	case len(c.rivals) == 0:
		return likely
	}
	return open
}

// cutJobs finds the beginnings of the records in an answer.
func cutJobs(out, stamp string) ([]cut, error) {
	submitted := keys[keySubmitTime] + stamp
	const usual = 1000 // bytes in a record
	cuts := make([]cut, 0, len(out)/usual)
	for from := 0; ; {
		i := strings.Index(out[from:], submitted)
		if i < 0 {
			break
		}
		c := cut{stamped: from + i}
		found := begins(out[:c.stamped], from)
		if len(found) == 0 {
			return nil, fmt.Errorf("scontrol: job %d of the list: it has no beginning: %w", len(cuts)+1, output.ErrForm)
		}
		c.begin = found[0]
		if len(cuts) > 0 { // the first record has no rivals, because no user's text precedes it
			c.rivals = found[1:]
		}
		c.sole = len(c.rivals) == 0
		cuts = append(cuts, c)
		from = c.stamped + len(submitted)
	}
	if len(cuts) == 0 && len(begins(out, 0)) > 0 {
		return nil, fmt.Errorf("scontrol: jobs without a submission time: %w", output.ErrForm)
	}
	return cuts, nil
}

// begins returns the positions at or after the given one that look like the beginning of a record.
func begins(text string, from int) []begin {
	var found []begin
	for {
		i := strings.Index(text[from:], "JobId=")
		if i < 0 {
			return found
		}
		at := from + i
		from = at + len("JobId=")
		line := strings.TrimSuffix(text[:at], client.Prompt)
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
