package output

import (
	"fmt"
	"strings"

	"accordion/core"
)

// fields lists the squeue fields (-O names, in order) that no user can choose freely. The last field, the reason,
// is Slurm's text and may contain a |.
var fields = []string{
	"JobID", "ArrayJobID", "ArrayTaskID", "HetJobID", "BatchFlag", "State", "UserName", "UserID", "GroupID", "Partition",
	"QOS", "NumNodes", "MaxNodes", "NumTasks", "NumCPUs", "TimeLimit", "StartTime", "EligibleTime", "SubmitTime",
	"PriorityLong", "Nice", "Reservation", "Dependency", "BatchHost", "NodeList", "MinCPUs", "MinMemory", "OverSubscribe", "tres-alloc",
	"Deadline", "MinTime", "Reason",
}

// freeFields lists the fields into which a user can write nearly anything. The secret word separates them.
var freeFields = []string{
	"admin_comment", "Name", "Comment", "Account", "Feature", "AllocNodes", "tres-per-node", "tres-per-job", "tres-per-task",
}

// SqueueFormat returns the SQUEUE_FORMAT2 with which squeue prints each job as
//
//	field|field|…|field WORD mark WORD name WORD comment WORD … WORD newline
//
// WORD is a random word, new for every call. squeue gets it through its environment, which other users cannot read. A
// user may write anything into a name or comment, even a line break and a whole forged record, but does not know WORD.
func SqueueFormat(word string) string {
	var b strings.Builder
	for i, f := range fields {
		b.WriteString(f + ":")
		if i < len(fields)-1 {
			b.WriteString("|,")
		} else {
			b.WriteString(word)
		}
	}
	for _, f := range freeFields {
		b.WriteString("," + f + ":" + word)
	}
	return b.String()
}

// ParseSqueue parses the output of squeue with SqueueFormat(word). If a field of a job cannot be parsed, it is
// missing, and the record's Unreadable has the reason. If the list has another form, ParseSqueue returns an error.
// Records have their own copies of texts. So a record that is kept for a job's life does not keep the megabytes of
// its list in memory.
func ParseSqueue(out, word string) ([]Record, error) {
	if word == "" {
		return nil, fmt.Errorf("squeue: no word to separate the fields")
	}
	jobs := make([]Record, 0, len(out)/usualRow)
	seen := interner{nodes: map[string][]string{}, texts: map[string]string{}}
	for number := 1; out != ""; number++ {
		var parts [10]string // the plain fields as one text, then each free field
		for i := range parts {
			var ok bool
			if parts[i], out, ok = strings.Cut(out, word); !ok {
				return nil, fmt.Errorf("squeue: job %d of the list: ends too early: %w", number, ErrForm)
			}
		}
		if !strings.HasPrefix(out, "\n") {
			return nil, fmt.Errorf("squeue: job %d of the list: text after its end: %w", number, ErrForm)
		}
		out = out[1:]
		r, err := parseRecord(&parts, &seen)
		if err != nil {
			return nil, fmt.Errorf("squeue: job %d of the list: %w", number, err)
		}
		jobs = append(jobs, r)
	}
	return jobs, nil
}

// usualRow is the approximate minimum length of a job's row, in bytes.
const usualRow = 400

// An interner keeps one copy of each text in a list, because most texts occur in many records. The copies do not
// keep the list in memory.
type interner struct {
	nodes map[string][]string // by host list
	texts map[string]string
}

// intern returns a copy of the text that does not keep the list in memory. It returns "" if Slurm prints that there
// is no value.
func (s *interner) intern(value string) string {
	if null(value) {
		return ""
	}
	mine, ok := s.texts[value]
	if !ok {
		mine = strings.Clone(value)
		s.texts[mine] = mine
	}
	return mine
}

// parseRecord parses the plain fields and copies the free fields.
func parseRecord(parts *[10]string, seen *interner) (Record, error) {
	f := plainFields{rest: parts[0]}
	e := Reader{}
	var r Record
	r.ID = core.JobID(e.Number("JobID", f.next()))
	array, task, het := Text(f.next()), seen.intern(f.next()), Text(f.next())
	script := f.next() == "1"
	word := seen.intern(f.next())
	r.User = seen.intern(f.next())
	r.UID, r.GID = uint32(e.Number("UserID", f.next())), uint32(e.Number("GroupID", f.next()))
	r.Partition, r.QOS = seen.intern(f.next()), seen.intern(f.next())
	r.Want, r.MaxNodes = e.Count("NumNodes", f.next()), e.Count("MaxNodes", f.next())
	r.Tasks, r.CPUs = e.Count("NumTasks", f.next()), e.Count("NumCPUs", f.next())
	r.Limit = e.Limit("TimeLimit", f.next())
	start, eligible := e.Instant("StartTime", f.next()), e.Instant("EligibleTime", f.next())
	r.Submitted = e.Instant("SubmitTime", f.next())
	r.Priority, r.Nice = e.Number("PriorityLong", f.next()), e.Signed("Nice", f.next())
	r.Reservation, r.DependsOn = seen.intern(f.next()), seen.intern(f.next())
	if host := f.next(); script { // for a job without a script, squeue prints the submitting host
		r.BatchHost = seen.intern(host)
	}
	if list := Text(f.next()); list != "" {
		r.Nodes = HostFirst(e.Nodes(list, seen.nodes), r.BatchHost)
	}
	r.MinCPUs, r.MinMemory = e.Count("MinCPUs", f.next()), e.Memory("MinMemory", f.next())
	r.OverSubscribe, r.TRES = seen.intern(f.next()), seen.intern(f.next())
	r.Deadline = e.Instant("Deadline", f.next())
	if least := Text(f.next()); least != "" {
		r.MinTime = e.Limit("MinTime", least)
	}
	r.Why = seen.intern(f.last())
	if f.bad || r.ID == 0 || r.Submitted == 0 {
		return Record{}, fmt.Errorf("not the %d fields of a job: %w", len(fields), ErrForm)
	}
	r.Mark, r.Name, r.Comment = seen.intern(parts[1]), seen.intern(parts[2]), seen.intern(strings.TrimRight(parts[3], " "))
	r.Account, r.Features = seen.intern(parts[4]), seen.intern(parts[5])
	r.Upfront = !strings.ContainsAny(parts[6], " =") // the name of the submitting host is not forged
	if r.Mark != "" {
		r.TRESPerNode, r.TRESPerJob, r.TRESPerTask = seen.intern(parts[7]), seen.intern(parts[8]), seen.intern(parts[9])
	}
	switch {
	case array != "" && task != "":
		r.Array = core.JobID(e.Number("ArrayJobID", array))
	case het != "" && het != "0":
		r.Unfit = UnfitHet
	}
	if e.Err != nil {
		r.Unreadable = e.Err.Error()
	}
	r.SetState(word, task, start, eligible)
	return r, nil
}

// plainFields returns the plain fields one by one.
type plainFields struct {
	rest string
	bad  bool // a field is missing
}

func (p *plainFields) next() string {
	field, rest, more := strings.Cut(p.rest, "|")
	p.rest, p.bad = rest, p.bad || !more
	return field
}

// last returns the rest of the text.
func (p *plainFields) last() string { return p.rest }
