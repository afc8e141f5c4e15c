// Package config reads the sidecar's configuration, a TOML file. For each mistake it reports the file, the line and what would be right.
//
//	c, err := config.Load("/etc/accordion/accordion.toml")
//	// accordion.toml:12: [plan] interval = "1x" is wrong: it must be a duration from 100ms to 1m0s, such as "1s"
//
// A file describes one batch system (Config), or lists the files of several (Clusters). Every key has a default (Default). The examples
// (Example, ExampleList) show all keys with comments. `accordion preflight` checks whether the values fit the cluster.
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

// Config is the configuration of the sidecar for one cluster. All values that Load and Default return are within their permitted ranges.
type Config struct {
	Cluster  string // name of the cluster in the journal; "" means the batch system's own name
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
	Delegate *Delegate // nil if launchers are not served
}

// The values of Config.System.
const (
	SystemSlurm    = "slurm"
	SystemOAR      = "oar"
	SystemEmbedded = "embedded"
)

// Slurm configures access to Slurm, and which partition is the managed pool.
type Slurm struct {
	Partition string
	Conf      string        // path of slurm.conf; "" means the file that Slurm's programs use by default
	Bin       string        // folder of Slurm's client programs; "" means that they are found through PATH
	Timeout   time.Duration // timeout of each call
	Growth    string        // how jobs grow: "auto", "merge", "overlap" or "companions"
	Manage    string        // which jobs of the partition are planned: ManageTold or ManageAll
	Limits    string        // file from which job_submit.lua reads the limits of associations and QOS; "" if there is none
	Clients   int           // number of client programs that may be started in any minute; 0 means no limit
}

// The values of [slurm] manage: plan only jobs with a request ("told"), or every job of the partition.
const (
	ManageTold = "told"
	ManageAll  = "all"
)

// OAR configures access to OAR, and which of its queues has the managed jobs. The managed pool is all resources of type default.
type OAR struct {
	Queue   string
	Conf    string        // path of oar.conf; "" means the file that OAR's programs use by default
	Bin     string        // folder of OAR's client programs; "" means that they are found through PATH
	Timeout time.Duration // timeout of each call
}

// Embedded configures the batch system that runs inside the sidecar's process.
type Embedded struct {
	Nodes int
	Pace  int // number of seconds by which the clock of the batch system and the sidecar advances in one real second
}

// Pace returns the number of seconds by which the cluster's clock advances in one real second. It is 1 for every batch system except the
// embedded one.
func (c Config) Pace() int {
	if c.System == SystemEmbedded {
		return max(1, c.Embedded.Pace)
	}
	return 1
}

// Plan configures planning.
type Plan struct {
	Interval    time.Duration // the rescheduling timer, which is the time between two readings while something is due
	Rest        time.Duration // longer time between two readings while nothing is due
	Policy      string        // name of the policy, one of policy.LiveNames
	Sizes       string        // name of the rule for the sizes of moldable jobs, one of sizing.Names; for OAR the rule is set in oar.conf instead
	Statistics  string        // path of a file with statistics about job arrivals, for the rule "load"; "" if there is none
	Algorithm   string        // name of the algorithm as ep.ParseAlgorithm accepts it, except "rigid"
	ExpandLimit ep.Limit      // largest factor by which the algorithm may lengthen a step; 0 means the algorithm's default
	StartLead   time.Duration // time before a job's planned start at which the sidecar begins to prepare the start
	Protect     int           // number of waiting managed jobs for which the sidecar reserves nodes ahead
	Guard       time.Duration // time for which an ordinary job may run past its limit; 0 means the time in the batch system's own configuration
}

// withoutLaunchers returns why launchers cannot be served under the configured policy, or "" if they
// can.
func (p Plan) withoutLaunchers() string {
	planner, err := policy.Live(p.Policy, p.Fit())
	if err != nil {
		return "" // an invalid policy is reported elsewhere
	}
	return NoLaunchers(planner)
}

// NoLaunchers returns why launchers cannot be served on a cluster with the policy `planner`, or "" if
// they can. Launchers need jobs with planned starts, and under some policies hardly any job has a
// planned start.
func NoLaunchers(planner sched.Policy) string {
	if _, few := policy.Patient(planner); few {
		return fmt.Sprintf("[delegate] does not go together with a policy under which most jobs have no place, such as easy-evolving and patient: leave it out, or plan the cluster by %s", policy.Default)
	}
	return ""
}

// Fit returns the algorithm for Algorithm and ExpandLimit.
func (p Plan) Fit() ep.Algorithm {
	a, err := ep.ParseAlgorithm(p.Algorithm)
	if err != nil { // Parse has already checked the name
		a = ep.Algorithm{Limit: ep.NoExpansion}
	}
	if p.ExpandLimit != 0 {
		a.Limit = p.ExpandLimit
	}
	return a
}

// Overrun configures how much longer than planned a managed job may run. This time is the fraction
// Share of the job's planned time, but at least Least. The job receives a signal when only Grace is
// left of this time, or when another job waits for its nodes. The other job waits at most for Grace.
type Overrun struct {
	Share  float64
	Least  time.Duration
	Grace  time.Duration
	Signal string // name of the signal; "" means no signal
}

// Early configures what happens when an application ends a step early. If Advance is true, the
// application may begin its next step early, provided that this delays no other job.
type Early struct {
	Advance bool
}

// Silent configures how the sidecar announces a shrink to a job that never calls `accordion step`.
type Silent struct {
	Notice time.Duration // time between the signal and the shrink
	Signal string
}

// Limits limits how much one user can impair other users through the sidecar.
type Limits struct {
	Unused   time.Duration // Unused times the number of nodes in the pool is the number of node-seconds that a user's jobs may leave unused; above that, the sidecar reserves no nodes ahead for them; 0 means no limit
	HalfLife time.Duration // time after which the counted node-seconds have decreased by half

	ShortestStep   time.Duration // shortest permitted step of a job with several steps; 0 means no limit; callers use Config.ShortestStep instead
	ResizesPerHour int           // largest number of resizes of one job in an hour; 0 means no limit
}

// Journal configures the path of the journal, and how long its entries are kept.
type Journal struct {
	Path string
	Keep time.Duration
}

// ShortestStep returns the shortest permitted step of a job. There is no such limit with the embedded batch system, which is for
// demonstrations.
func (c Config) ShortestStep() time.Duration {
	if c.System == SystemEmbedded {
		return 0
	}
	return c.Limits.ShortestStep
}

// Lease configures the length of the lease. After a sidecar has died, a sidecar on another host waits for at most this time.
type Lease struct {
	Length time.Duration
}

// Session configures how jobs connect to the sidecar.
type Session struct {
	Socket      string
	MaxSessions int
	Listen      string // HOST:PORT for jobs on other hosts; "" if there is none
	MungeSocket string // socket of the munged that authenticates these jobs; "" means munge's default
}

// Log configures logging.
type Log struct {
	Level  string // "trace", "debug", "info", "warn" or "error"
	Format string // "text" or "json"
	Events string // file for events, one JSON object per line; "" if there is none
}

// Metrics configures where Prometheus can read the metrics.
type Metrics struct {
	Listen string // HOST:PORT; "" means that the metrics are not served
}

// Web configures the server that shows the cluster to browsers.
type Web struct {
	Listen  string // HOST:PORT, or the absolute path of a Unix socket; "" means that there is no such server
	Names   string // host names by which browsers may address the server, separated by commas; "" means the names of this host
	Private bool   // users and names of jobs are hidden
}

// Example is an example of a configuration file, with comments: every key with its default.
//
//go:embed example.toml
var Example string

// DefaultPath is the path of the configuration if none is given.
const DefaultPath = "/etc/accordion/accordion.toml"

// Default returns the configuration of an empty file.
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

// Error is one mistake in a configuration.
type Error struct {
	File string
	Line int    // line of the mistake, from 1; 0 if the mistake concerns the whole file
	What string // what is wrong, and what would be right
	Hint string // what to do; may be empty
	More int    // number of further mistakes in the file
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

// maxSize limits the size of a file, in bytes.
const maxSize = 1 << 20

// Load reads the configuration file of one cluster. Every error is an *Error.
func Load(path string) (Config, error) {
	text, err := read(path)
	if err != nil {
		return Config{}, err
	}
	return Parse(path, text)
}

// read returns the text of a file. Every error is an *Error.
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

// Parse parses the text of a configuration file. Errors refer to the text by the name `file`.
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
