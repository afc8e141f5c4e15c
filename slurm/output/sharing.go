package output

import "strings"

// A Sharing is how a partition, or a job, shares nodes with other jobs, in Slurm's words: EXCLUSIVE, NO, YES:2, FORCE:4…
type Sharing string

// ofOneUser ends a partition's sharing where a node is one user's at a time.
const ofOneUser = ",USER"

// WholeNodes says whether every job of the partition gets whole nodes.
func (s Sharing) WholeNodes() bool { return s == "EXCLUSIVE" }

// SharesOnRequest says whether cores may be given to a second job where both ask for that, and only then.
func (s Sharing) SharesOnRequest() bool {
	many, ok := strings.CutPrefix(s.OverSubscribe(), "YES:")
	return ok && many != "1"
}

// OverSubscribe is Slurm's word for it, with the number.
func (s Sharing) OverSubscribe() string { return strings.TrimSuffix(string(s), ofOneUser) }

// ExcludesOtherUsers says whether no other user's job can come to lie on a node that a job of the partition has a part of.
func (s Sharing) ExcludesOtherUsers() bool { return s.WholeNodes() || strings.HasSuffix(string(s), ofOneUser) }

// Forced says whether cores are given to several jobs whether they ask for that or not.
func (s Sharing) Forced() bool {
	many, ok := strings.CutPrefix(s.OverSubscribe(), "FORCE")
	return ok && many != ":1"
}

// Sharing is how the partition's jobs share nodes.
func (p *Partition) Sharing() Sharing {
	if p.Exclusive {
		return "EXCLUSIVE"
	}
	if p.ofOneUser {
		return Sharing(p.OverSubscribe + ofOneUser)
	}
	return Sharing(p.OverSubscribe)
}
