// Package config reads the sidecar's configuration: a TOML file whose every mistake is answered with file, line and what
// would be right.
//
//	c, err := config.Load("/etc/accordion/accordion.toml")
//	// accordion.toml:12: [plan] interval = "1x" is wrong: it must be a duration from 100ms to 1m0s, such as "1s"
//
// A file describes one batch system (Config), or lists the files of several (Clusters). Every key has a default (Default); the
// examples (Example, ExampleList) show them all with a comment each. Whether the values fit the cluster is not judged here:
// `accordion preflight` does that.
package config

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"accordion/core/ep"
	"accordion/core/policy"
	"accordion/core/sched"
)

// Config is the sidecar's whole configuration. Load and Default give only values within their ranges.
type Config struct {
	Cluster  string // name in the journal; "": the batch system's own
	System   string // one of SystemSlurm, SystemOAR, SystemEmbedded
	Slurm    Slurm
	OAR      OAR
	Embedded Embedded
	Plan     Plan
	Early    Early
	Overrun  Overrun
	Silent   Silent
	Limits   Limits
	Journal  Journal
	Lease    Lease
	Session  Session
	Log      Log
	Metrics  Metrics
	Web      Web
	Delegate *Delegate // nil: no launchers are served
}

// The batch systems that System may name.
const (
	SystemSlurm    = "slurm"
	SystemOAR      = "oar"
	SystemEmbedded = "embedded"
)

// Slurm says where Slurm is and which of its partitions is the managed pool.
type Slurm struct {
	Partition string
	Conf      string        // path of slurm.conf; "": Slurm's own
	Bin       string        // folder of the client programs; "": through PATH
	Timeout   time.Duration // of one call
	Growth    string        // how jobs are made larger: auto, merge, overlap, companions
	Manage    string        // which jobs of the partition are planned: told, all
	Limits    string        // file in which job_submit.lua reads what associations and QOS allow; "": none
	Clients   int           // programs that may begin in any minute; 0: no bound
}

// What [slurm] manage may be: jobs that say so, or every job of the partition.
const (
	ManageTold = "told"
	ManageAll  = "all"
)

// OAR says where OAR is and which of its queues holds the managed jobs; the managed pool is all resources of type default.
type OAR struct {
	Queue   string
	Conf    string        // path of oar.conf; "": OAR's own
	Bin     string        // folder of the client programs; "": through PATH
	Timeout time.Duration // of one call
}

// Embedded is the batch system in the process.
type Embedded struct {
	Nodes int
	Pace  int // seconds of its clock, and of the sidecar's, a second
}

// Pace is how many seconds of the cluster's clock pass in a second: 1 of every batch system but the embedded one.
func (c Config) Pace() int {
	if c.System == SystemEmbedded {
		return max(1, c.Embedded.Pace)
	}
	return 1
}

// Plan says how jobs are planned.
type Plan struct {
	Interval    time.Duration // the re-scheduling timer
	Rest        time.Duration // the pause between two readings while nothing is due
	Policy      string        // by name, one of policy.LiveNames
	Sizes       string        // of moldable jobs: the name of a rule (sizing.Names). OAR's oar.conf says it there
	Statistics  string        // file of statistics of arrivals, for the rule load; "": none
	Algorithm   string        // as ep.ParseAlgorithm reads it, but not rigid
	ExpandLimit ep.Limit      // how many times its duration a step may last; 0: the algorithm's own
	StartLead   time.Duration // how long before its planned second the sidecar begins to prepare a start
	Protect     int           // waiting managed jobs that get a reservation ahead
	Guard       time.Duration // how long an ordinary job may outlast its limit; 0: from the batch system
}

// withoutLaunchers returns why no launchers are served under the policy, or "" if they are.
func (p Plan) withoutLaunchers() string {
	planner, err := policy.Live(p.Policy, p.Fit())
	if err != nil {
		return "" // said elsewhere
	}
	return NoLaunchers(planner)
}

// NoLaunchers returns why no launchers are served on a cluster with that policy, or "" if they are. A launcher sees places to come,
// and under such a policy hardly anybody has one.
func NoLaunchers(planner sched.Policy) string {
	if _, few := policy.Patient(planner); few {
		return fmt.Sprintf("[delegate] does not go together with a policy under which most jobs have no place, such as easy-evolving and patient: leave it out, or plan the cluster by %s", policy.Default)
	}
	return ""
}

// Fit is what Algorithm and ExpandLimit mean.
func (p Plan) Fit() ep.Algorithm {
	a, err := ep.ParseAlgorithm(p.Algorithm)
	if err != nil { // Parse has refused it
		a = ep.Algorithm{Limit: ep.NoExpansion}
	}
	if p.ExpandLimit != 0 {
		a.Limit = p.ExpandLimit
	}
	return a
}

// Overrun is how much longer than planned a managed job may run: Share of its total, and at least Least.
// It is warned by Signal Grace before that is used up, or when another job waits for its nodes; that one waits no longer
// than Grace.
type Overrun struct {
	Share  float64
	Least  time.Duration
	Grace  time.Duration
	Signal string // "": no warning
}

// Early says whether an application that is early may go on early if no other job is delayed.
type Early struct {
	Advance bool
}

// Silent says how the sidecar informs jobs that never call `accordion step`.
type Silent struct {
	Notice time.Duration // before a shrink
	Signal string
}

// Limits bound what one user may take from others through the sidecar.
type Limits struct {
	Unused   time.Duration // of the whole pool: unused node-seconds of a user above which nothing is reserved ahead; 0: no bound
	HalfLife time.Duration // in which what is counted for Unused halves

	ShortestStep   time.Duration // that a job with several steps may have; 0: no bound. Config.ShortestStep says it
	ResizesPerHour int           // of one job; 0: no bound
}

// Journal says where the journal is and how long its entries are kept.
type Journal struct {
	Path string
	Keep time.Duration
}

// ShortestStep returns the shortest time that each step of a job may last. The embedded batch
// system, for demonstrations, has no bound.
func (c Config) ShortestStep() time.Duration {
	if c.System == SystemEmbedded {
		return 0
	}
	return c.Limits.ShortestStep
}

// Lease says how long a sidecar that died without a word keeps others away that are on other hosts.
type Lease struct {
	Length time.Duration
}

// Session is where jobs reach the sidecar.
type Session struct {
	Socket      string
	MaxSessions int
	Listen      string // HOST:PORT for jobs on other hosts; "": none
	MungeSocket string // of the munged that proves who asks there; "": munge's own
}

// Log says what is logged, and how.
type Log struct {
	Level  string // trace, debug, info, warn, error
	Format string // text, json
	Events string // file of events, a JSON object a line; "": none
}

// Metrics says where Prometheus may read what the sidecar does.
type Metrics struct {
	Listen string // HOST:PORT; "": nowhere
}

// Web says where the cluster is shown in a browser.
type Web struct {
	Listen  string // HOST:PORT, or the absolute path of a Unix socket; "": nowhere
	Names   string // host names by which browsers may ask for it, with commas; "": those of this host
	Private bool   // jobs are shown without their users and names
}

// Example is the commented example: every key with its default.
//
//go:embed example.toml
var Example string

// DefaultPath is where the configuration is when nothing else is said.
const DefaultPath = "/etc/accordion/accordion.toml"

// Default is the configuration of an empty file.
func Default() Config {
	return Config{
		System:   SystemSlurm,
		Slurm:    Slurm{Partition: "main", Timeout: 10 * time.Second, Growth: "auto", Manage: ManageTold, Clients: 60},
		OAR:      OAR{Queue: "evolve", Timeout: 20 * time.Second},
		Embedded: Embedded{Nodes: 16, Pace: 1},
		Plan:     Plan{Interval: time.Second, Rest: 5 * time.Second, Policy: policy.Default, Sizes: policy.DefaultSizes, Algorithm: "noX", StartLead: 4 * time.Second, Protect: 16},
		Early:    Early{Advance: true},
		Overrun:  Overrun{Share: 0.10, Least: 30 * time.Second, Grace: 30 * time.Second, Signal: "B:URG"},
		Silent:   Silent{Notice: 10 * time.Second, Signal: "B:URG"},
		Limits:   Limits{Unused: time.Hour, HalfLife: 168 * time.Hour, ShortestStep: 10 * time.Second, ResizesPerHour: 360},
		Journal:  Journal{Path: "/var/lib/accordion/journal.db", Keep: 720 * time.Hour},
		Lease:    Lease{Length: time.Minute},
		Session:  Session{Socket: "/run/accordion/accordion.sock", MaxSessions: 4096},
		Log:      Log{Level: "info", Format: "text"},
	}
}

// An Error is one mistake in a configuration.
type Error struct {
	File string
	Line int    // from 1; 0: the file as a whole
	What string // what is wrong, and what would be right
	Hint string // what to do; may be empty
	More int    // how many more mistakes the file has
}

func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	text += ": " + e.What
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	if e.More > 0 {
		text += fmt.Sprintf(" (and %d more)", e.More)
	}
	return text
}

// maxSize bounds a file, in bytes: nobody configures so much.
const maxSize = 1 << 20

// Load reads a configuration file of one cluster. Every error is an *Error.
func Load(path string) (Config, error) {
	text, err := read(path)
	if err != nil {
		return Config{}, err
	}
	return Parse(path, text)
}

// read is the text of a file. Every error is an *Error.
func read(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", &Error{File: path, What: "there is no such file", Hint: "name one with --config or ACCORDION_CONFIG, or make it: accordion config example >FILE"}
		}
		return "", &Error{File: path, What: "cannot be read: " + err.Error()}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	switch {
	case err != nil:
		return "", &Error{File: path, What: "cannot be read: " + err.Error()}
	case len(text) > maxSize:
		return "", &Error{File: path, What: "is longer than 1 MiB: that is no configuration"}
	}
	return string(text), nil
}

// Parse is Load of a text; file is its name in errors.
func Parse(file, text string) (Config, error) {
	d, err := decode(file, text, 0)
	if err != nil {
		return Config{}, err
	}
	if d.lists() {
		return Config{}, &Error{File: file, Line: firstEntry(text), What: "it lists clusters, where the configuration of one is wanted"}
	}
	c := Default()
	var wrong mistakes
	for name, content := range d.sections {
		if name == delegateSection {
			settings, bad := d.delegate(content)
			c.Delegate, wrong = settings, append(wrong, bad...)
			continue
		}
		wrong = append(wrong, section(d, &c, settings, name, content)...)
	}
	if c.Delegate != nil && c.Delegate.Journal == c.Journal.Path {
		wrong = append(wrong, d.at(delegateSection, fmt.Sprintf("[delegate] journal = %q is that of [journal], too: each needs its own", c.Journal.Path)))
	}
	if why := c.Plan.withoutLaunchers(); c.Delegate != nil && why != "" {
		wrong = append(wrong, d.at(delegateSection, why))
	}
	if err := wrong.first(); err != nil {
		return Config{}, err
	}
	return c, nil
}
