package output

import "strings"

// Use is what a node's state means for jobs.
type Use int

// The uses, the worst last.
const (
	Now   Use = iota // jobs may be started on it, though others may have it
	Later            // none now; it comes back by itself: it boots, is about to answer, or the batch system is done with it
	Away             // none until an administrator brings it back
)

// Power is where a node stands between awake and asleep, where a site lets its nodes sleep (SuspendProgram).
type Power int

// The powers, the sleepiest last.
const (
	Awake      Power = iota
	Asleep           // POWERED_DOWN: an allocation wakes it, and lasts from that instant
	Waking           // POWERING_UP: it boots, up to ResumeTimeout, and then answers
	FallingAsleep       // POWERING_DOWN, POWER_DOWN: it goes to sleep, up to SuspendTimeout, and cannot be woken before
)

// PowerOf returns where a node of that state stands.
func PowerOf(state string) Power { return readState(state).power }

// A meaning is what one word of a node's state says. What several words say together is the worst of them.
type meaning struct {
	use    Use
	holds  bool  // a job holds the node, or is leaving it
	silent bool  // it does not answer
	unregistered bool  // slurmctld was started and has not heard of it: that it does not answer means nothing
	dead   bool  // what runs there is lost
	power  Power // how far from awake it is
}

// States are the words of `scontrol show node`, before the first + and without marks. Releases before 21.08 print what later ones print as a
// flag (MAINT, REBOOT, RESERVED).
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
	"UNK":        {use: Later, holds: true, unregistered: true}, // sinfo's word
	"MAINT":      {},
	"RESERVED":   {},
	"PLANNED":    {},
	"BLOCKED":    {use: Later},
	"PERFCTRS":   {use: Later},
	"REBOOT":     {use: Later},

	// Printed of a state that is nothing but this flag: the base is unknown.
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

// flags are the words behind a +.
var flags = map[string]meaning{
	"CLOUD":            {},
	"DYNAMIC_NORM":     {},
	"DYNAMIC_FUTURE":   {},
	"PLANNED":          {}, // the last back-filling pass has it for a job
	"RESERVED":         {}, // the reservation says for whom
	"MAINTENANCE":      {},
	"MAINT":            {},
	"RESUME":           {},
	"POWERED_UP":       {},
	"COMPLETING":       {holds: true},
	"DRAIN":            {use: Away},
	"FAIL":             {use: Away},
	"INVALID_REG":      {use: Away}, // it registered with less than slurm.conf says
	"EXTERNAL":         {use: Away}, // it has no slurmd: no step begins there
	"NOT_RESPONDING":   {silent: true},
	"REBOOT_REQUESTED": {use: Later},
	"REBOOT_ISSUED":    {use: Later},
	"REBOOT_CANCEL":    {use: Later},
	"BLOCKED":          {use: Later}, // a job has the whole of its block, or switch (exclusive topology)
	"PERFCTRS":         {use: Later}, // counters of a Cray's network are in use
	"POWER":            {power: Asleep},
	"POWERED_DOWN":     {power: Asleep},
	"POWERING_UP":      {power: Waking},
	"POWER_UP":         {power: Waking},
	"POWERING_DOWN":    {power: FallingAsleep},
	"POWER_DOWN":       {power: FallingAsleep},
	"POWER_DRAIN":      {power: FallingAsleep},
}

// marks are the signs behind a word, as releases before 21.08 and sinfo put them.
var marks = map[rune]meaning{
	'*': {silent: true},
	'~': {power: Asleep},
	'#': {power: Waking},
	'%': {use: Later, power: FallingAsleep},
	'!': {use: Later, power: FallingAsleep},
	'$': {},            // in a maintenance reservation
	'@': {use: Later},  // to be rebooted
	'^': {use: Later},  // being rebooted
	'-': {},            // planned for a job
	'+': {holds: true}, // ALLOCATED+: a job is leaving it
}

// nodeState is a node's state as Slurm printed it, read.
type nodeState struct {
	meaning
	asleep  bool     // it answers when it has booted
	unknown []string // words of a later release, or of a site's own
}

// lost reports whether the node is down, or does not answer and is expected to.
func (s nodeState) lost() bool { return s.dead || s.silent && !s.unregistered && !s.asleep }

// readState reads a state such as IDLE+PLANNED, MIXED, DOWN*+DRAIN. A word that is not known makes the node unusable for now: a later Slurm may
// mean anything by it, and an idle node left alone does less harm than a job lost on it.
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
