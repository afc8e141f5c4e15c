package managed

// An Obstacle is a reason why a node is not free, or why a promise was broken. The strings are
// values of a label in the metrics.
type Obstacle string

// The obstacles to a growth.
const (
	Nobody          Obstacle = ""
	LateShrinker    Obstacle = "late shrinker"
	OrdinaryOverrun Obstacle = "ordinary overrun"
	BatchSystem     Obstacle = "batch system" // the node is completing, down, or not yet cleaned up
	SiteLimit       Obstacle = "limit"        // a limit of the site
	BootingNode     Obstacle = "booting node" // a node that was powered down
	Turn            Obstacle = "turn"         // calls for other users have used up what [limits] clients_per_minute allows
)

// More obstacles that break promises.
const (
	LateApplication Obstacle = "late application" // the job itself was late
	LostNode        Obstacle = "lost node"
	Standstill      Obstacle = "sidecar" // the sidecar stood still, or did not run
	Outaged         Obstacle = "outage"  // the batch system did not answer
)

// ForUsers returns the obstacle as a sentence.
func (o Obstacle) ForUsers() string {
	switch o {
	case LateShrinker:
		return "another evolving job gave its nodes back late"
	case OrdinaryOverrun:
		return "an ordinary job held its nodes past its limit"
	case LostNode:
		return "a node was lost"
	case BootingNode:
		return "a node that was powered down had to boot"
	case Standstill:
		return "the sidecar stood still, or did not run"
	case Outaged:
		return "the batch system did not answer for a while"
	case Turn:
		return "the changes that may be made in a minute were used up"
	case SiteLimit:
		return "a limit of the site allowed no more nodes"
	default:
		return "the batch system had not freed the nodes"
	}
}
