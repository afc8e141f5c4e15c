package output

import "strings"

// Use is whether jobs can use a node in a given state.
type Use int

// The values of Use; a later one is worse.
const (
	Now   Use = iota // jobs may start on the node if no other job holds it
	Later            // the node becomes usable without an administrator: it boots, will soon answer, or Slurm is still cleaning up
	Away             // the node is unusable until an administrator brings it back
)

// Power is the power state of a node on a site that powers idle nodes down (SuspendProgram).
type Power int

// The power states; nodes in a later state take longer to wake.
const (
	Awake         Power = iota
	Asleep              // POWERED_DOWN: an allocation wakes the node, and begins before the node has booted
	Waking              // POWERING_UP: the node boots for up to ResumeTimeout, then answers
	FallingAsleep       // POWERING_DOWN, POWER_DOWN: the node shuts down for up to SuspendTimeout, and cannot be woken until then
)

// PowerOf returns the power state that is part of a node's state.
func PowerOf(state string) Power { return readState(state).power }

// A `meaning` is what one word of a node's state means. If a state has several words, the worst meaning counts.
type meaning struct {
	use          Use
	holds        bool  // a job holds the node, or is still leaving it
	silent       bool  // NOT_RESPONDING
	unregistered bool  // slurmctld has restarted and has no report from the node yet, so a missing answer means nothing
	dead         bool  // everything that ran on the node is lost
	power        Power // the node's power state
}

// states lists the words that `scontrol show node` prints before the first +, without marks. Releases before 21.08
// print some words as states (MAINT, REBOOT, RESERVED) that later releases print as flags.
var states = map[string]meaning{
	"IDLE":       {},
	"ALLOCATED":  {holds: true},
	"MIXED":      {holds: true},
	"COMPLETING": {holds: true},
	"DOWN":       {use: Away, holds: true, dead: true},
	"ERROR":      {use: Away, holds: true, dead: true},
	"DRAINED":    {use: Away},
	"DRAINING":   {use: Away, holds: true},
	"FAIL":       {use: Away},
	"FAILING":    {use: Away, holds: true},
	"FUTURE":     {use: Away, holds: true},
	"INVAL":      {use: Away},
	"INVALID":    {use: Away, holds: true},
	"UNKNOWN":    {use: Later, holds: true, unregistered: true},
	"UNK":        {use: Later, holds: true, unregistered: true}, // as sinfo prints UNKNOWN
	"MAINT":      {},
	"RESERVED":   {},
	"PLANNED":    {},
	"BLOCKED":    {use: Later},
	"PERFCTRS":   {use: Later},
	"REBOOT":     {use: Later},

	// Slurm prints one of these words if the state has only this flag and an unknown base state.
	"REBOOT_ISSUED":  {use: Later, holds: true},
	"CANCEL_REBOOT":  {use: Later, holds: true},
	"CLOUD":          {use: Later, holds: true},
	"DYNAMIC_NORM":   {use: Later, holds: true},
	"DYNAMIC_FUTURE": {use: Later, holds: true},
	"EXTERNAL":       {use: Away, holds: true},
	"POWER_UP":       {use: Later, holds: true, power: Waking},
	"POWERING_UP":    {use: Later, holds: true, power: Waking},
	"POWERED_DOWN":   {use: Later, holds: true, power: Asleep},
	"POWER_DOWN":     {use: Later, holds: true, power: FallingAsleep},
	"POWERING_DOWN":  {use: Later, holds: true, power: FallingAsleep},
	"RESUME":         {use: Later, holds: true},
	"UNDRAIN":        {use: Later, holds: true},
}

// flags lists the words after a +.
var flags = map[string]meaning{
	"CLOUD":            {},
	"DYNAMIC_NORM":     {},
	"DYNAMIC_FUTURE":   {},
	"PLANNED":          {}, // the last backfill pass planned it for a job
	"RESERVED":         {}, // the reservation has the users who may use the node
	"MAINTENANCE":      {},
	"MAINT":            {},
	"RESUME":           {},
	"POWERED_UP":       {},
	"COMPLETING":       {holds: true},
	"DRAIN":            {use: Away},
	"FAIL":             {use: Away},
	"INVALID_REG":      {use: Away}, // the node registered with less hardware than slurm.conf states
	"EXTERNAL":         {use: Away}, // the node has no slurmd, so no step starts there
	"NOT_RESPONDING":   {silent: true},
	"REBOOT_REQUESTED": {use: Later},
	"REBOOT_ISSUED":    {use: Later},
	"REBOOT_CANCEL":    {use: Later},
	"BLOCKED":          {use: Later}, // a job holds its whole block or switch (exclusive topology)
	"PERFCTRS":         {use: Later}, // network counters of a Cray are in use
	"POWER":            {power: Asleep},
	"POWERED_DOWN":     {power: Asleep},
	"POWERING_UP":      {power: Waking},
	"POWER_UP":         {power: Waking},
	"POWERING_DOWN":    {power: FallingAsleep},
	"POWER_DOWN":       {power: FallingAsleep},
	"POWER_DRAIN":      {power: FallingAsleep},
}

// marks lists the signs after a word, as sinfo and releases before 21.08 print them.
var marks = map[rune]meaning{
	'*': {silent: true},
	'~': {power: Asleep},
	'#': {power: Waking},
	'%': {use: Later, power: FallingAsleep},
	'!': {use: Later, power: FallingAsleep},
	'$': {},            // in a maintenance reservation
	'@': {use: Later},  // reboot requested
	'^': {use: Later},  // reboot issued
	'-': {},            // planned by backfill
	'+': {holds: true}, // ALLOCATED+: a job on the node is completing
}

// nodeState is a parsed node state.
type nodeState struct {
	meaning
	asleep  bool     // the node does not answer because it is powered down or booting
	unknown []string // words of a later release, or of a site's own build of Slurm
}

// lost reports whether the node is down, or does not answer although it should.
func (s nodeState) lost() bool { return s.dead || s.silent && !s.unregistered && !s.asleep }

// readState parses a state such as IDLE+PLANNED, MIXED or DOWN*+DRAIN. An unknown word makes the node unusable for
// now. In a later Slurm the word may mean anything, and an idle node does less harm than a lost job.
func readState(s string) nodeState {
	base, rest, _ := strings.Cut(s, "+")
	var n nodeState
	known := func(word string, m meaning, is bool) {
		if !is {
			n.unknown, m = append(n.unknown, word), meaning{use: Later}
		}
		n.use, n.power = max(n.use, m.use), max(n.power, m.power)
		n.holds, n.silent, n.unregistered, n.dead = n.holds || m.holds, n.silent || m.silent, n.unregistered || m.unregistered, n.dead || m.dead
	}
	read := func(word string, all map[string]meaning) {
		name := strings.TrimRightFunc(word, func(r rune) bool { return !(r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_') })
		for _, mark := range word[len(name):] {
			m, is := marks[mark]
			known(string(mark), m, is)
		}
		if name != "" {
			m, is := all[name]
			known(name, m, is)
		}
	}
	if read(base, states); base == "" {
		known("", meaning{}, false)
	}
	for flag := range strings.SplitSeq(rest, "+") {
		if flag != "" {
			read(flag, flags)
		}
	}
	if n.asleep = n.power != Awake; n.silent && !n.asleep {
		n.use = max(n.use, Later)
	}
	return n
}
