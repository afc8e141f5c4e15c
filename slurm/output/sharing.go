package output

import "strings"

// A Sharing is the way in which a partition or a job shares nodes with other jobs. Its value is as Slurm prints it:
// EXCLUSIVE, NO, YES:2, FORCE:4…
type Sharing string

// ofOneUser is the suffix of a partition's Sharing if a node serves one user at a time.
const ofOneUser = ",USER"

// WholeNodes reports whether every job of the partition gets whole nodes.
func (s Sharing) WholeNodes() bool { return s == "EXCLUSIVE" }

// SharesOnRequest reports whether Slurm allocates cores to a second job only if both jobs request sharing.
func (s Sharing) SharesOnRequest() bool {
	many, ok := strings.CutPrefix(s.OverSubscribe(), "YES:")
	return ok && many != "1"
}

// OverSubscribe returns the value of the setting OverSubscribe, with its number.
func (s Sharing) OverSubscribe() string { return strings.TrimSuffix(string(s), ofOneUser) }

// ExcludesOtherUsers reports whether a node with a job of the partition never gets another user's job.
func (s Sharing) ExcludesOtherUsers() bool {
	return s.WholeNodes() || strings.HasSuffix(string(s), ofOneUser)
}

// Forced reports whether Slurm allocates cores to several jobs even if these jobs do not request sharing.
func (s Sharing) Forced() bool {
	many, ok := strings.CutPrefix(s.OverSubscribe(), "FORCE")
	return ok && many != ":1"
}

// Sharing returns how the partition's jobs share nodes.
func (p *Partition) Sharing() Sharing {
	if p.Exclusive {
		return "EXCLUSIVE"
	}
	if p.ofOneUser {
		return Sharing(p.OverSubscribe + ofOneUser)
	}
	return Sharing(p.OverSubscribe)
}
