package compare

import (
	"fmt"
	"strings"

	"accordion/traces/replay"
	"accordion/traces/workload"
)

// A difference counts as a loss if it is at least lossShare of the first policy's value. A difference of mean
// waits must also be at least lossSeconds, and a difference of slowdowns at least lossSlowdown.
const (
	lossShare    = .005
	lossSeconds  = 1
	lossSlowdown = .01
)

// Losers returns one sentence about the kinds of jobs whose mean wait or mean bounded slowdown is worse than under the first policy. `names`
// has one name per metrics. It returns "" for a single policy.
func Losers(names []string, metrics []replay.Metrics) string {
	var said []string
	for i := 1; i < len(metrics); i++ {
		who := losers(&metrics[i], &metrics[0])
		if len(who) == 0 {
			who = []string{"nobody loses"}
		}
		said = append(said, "under "+names[i]+" "+strings.Join(who, ", "))
	}
	if len(said) == 0 {
		return ""
	}
	return "Who loses in the mean, against " + names[0] + ": " + strings.Join(said, "; ") + ".\n"
}

// losers returns which kinds of jobs lose, and what.
func losers(m, first *replay.Metrics) (who []string) {
	for _, was := range first.ByKind {
		jobs := was.Kind + " jobs"
		switch {
		case len(first.ByKind) == 1:
			jobs = "jobs"
		case was.Kind == workload.Rigid.String():
			jobs = "other jobs"
		}
		for _, is := range m.ByKind {
			if is.Kind != was.Kind {
				continue
			}
			longer, slower := is.Waiting-was.Waiting, is.Slowdown-was.Slowdown
			var loss []string
			if longer > max(lossSeconds, lossShare*was.Waiting) {
				loss = append(loss, "wait "+seconds(longer)+" longer")
			}
			if slower > max(lossSlowdown, lossShare*was.Slowdown) {
				loss = append(loss, fmt.Sprintf("are slowed down %s times instead of %s", decimal(is.Slowdown), decimal(was.Slowdown)))
			}
			if len(loss) > 0 {
				who = append(who, jobs+" "+strings.Join(loss, " and "))
			}
		}
	}
	return who
}
