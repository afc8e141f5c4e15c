package slurm

import (
	"testing"
	"time"
)

func TestAJobLetInEarlyIsOvertakenOnlyByJobsThatBeginNow(t *testing.T) {
	at := time.Unix(1795681500, 0)
	next, later := priority(163, at), priority(161, at.Add(7*time.Second))
	if now := priority(0, at.Add(time.Hour)); now <= next || next <= later {
		t.Errorf("priorities: %d of one that begins now, %d of the next, %d of one that was let in later", now, next, later)
	}
	const basic = 4294901760 // the priority of the first job under priority/basic; the priority of an expander is 4294967290
	for _, p := range []int64{priority(0, at), priority(1, time.Unix(0, 0)), priority(1, time.Unix(priorityRound-1, 0))} {
		if p <= basic || p >= 4294967290 {
			t.Errorf("priority %d is not between Slurm's own and an expander's", p)
		}
	}
}
