package jobs

import (
	"fmt"
	"strconv"
	"strings"

	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/output"
)

// This file finds out where in a console's answer to `show job` the records of the jobs begin. Each is on a line of its own,
// but a user may write line ends into his job's name, account, comment or paths, and whole forged records behind them.
//
// What he cannot write is the console's stamp, which stands in front of each time. So there are as many jobs as stamped
// times of submission, and between two of these exactly one record begins: where only one place looks like it, it does so
// there. Only one who forges beginnings makes more places, and for his own job and the one behind it: rivals.go finds the
// true one.

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
	likely               // before the place that was recognized as the begin of the next
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
			return nil, fmt.Errorf("scontrol: job %d of the list: it has no begin: %w", len(cuts)+1, output.ErrForm)
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
		return nil, fmt.Errorf("scontrol: jobs without a time of submission: %w", output.ErrForm)
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
