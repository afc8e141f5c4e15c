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

// Config is the configuration of the sidecar for one cluster. Load and Default return only values within their ranges.
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

// The batch systems that System may name.
const (
	SystemSlurm    = "slurm"
	SystemOAR      = "oar"
	SystemEmbedded = "embedded"
)

// Slurm configures access to Slurm, and which of its partitions is the managed pool.
type Slurm struct {
	Partition string
	Conf      string        // path of slurm.conf; "" means the file that Slurm itself uses
	Bin       string        // folder of the client programs; "" means that they are found through PATH
	Timeout   time.Duration // timeout of each call
	Growth    string        // how jobs grow: auto, merge, overlap, companions
	Manage    string        // which jobs of the partition are planned: told, all
	Limits    string        // file from which job_submit.lua reads the limits of associations and QOS; "" if there is none
	Clients   int           // programs that may begin in any minute; 0 means no limit
}

// The values of [slurm] manage: jobs with a request, or every job of the partition.
const (
	ManageTold = "told"
	ManageAll  = "all"
)

// OAR configures access to OAR, and which of its queues has the managed jobs. The managed pool is all resources of type default.
type OAR struct {
	Queue   string
	Conf    string        // path of oar.conf; "" means the file that OAR itself uses
	Bin     string        // folder of the client programs; "" means that they are found through PATH
	Timeout time.Duration // timeout of each call
}

// Embedded configures the batch system in the process.
type Embedded struct {
	Nodes int
	Pace  int // seconds of its clock, and of the sidecar's, in one second
}

// Pace returns how many seconds of the cluster's clock pass in a second. It is 1 for every batch system except the embedded one.
func (c Config) Pace() int {
	if c.System == SystemEmbedded {
		return max(1, c.Embedded.Pace)
	}
	return 1
}

// Plan configures planning.
type Plan struct {
	Interval    time.Duration // the rescheduling timer
	Rest        time.Duration // pause between two readings while nothing is due
	Policy      string        // by name, one of policy.LiveNames
	Sizes       string        // rule for the sizes of moldable jobs (sizing.Names); for OAR it is in oar.conf instead
	Statistics  string        // file with statistics of arrivals, for the rule load; "" if there is none
	Algorithm   string        // as ep.ParseAlgorithm reads it, but not rigid
	ExpandLimit ep.Limit      // how many times its duration a step may last; 0 means the algorithm's default
	StartLead   time.Duration // how long before the planned start its preparation begins
	Protect     int           // number of waiting managed jobs for which nodes are reserved ahead
	Guard       time.Duration // how long an ordinary job may continue past its limit; 0 means the time in the batch system's own configuration
}

// withoutLaunchers returns why launchers are not served under the configured policy, or "" if they
// are.
func (p Plan) withoutLaunchers() string {
	planner, err := policy.Live(p.Policy, p.Fit())
	if err != nil {
		return "" // an invalid policy is reported elsewhere
	}
	return NoLaunchers(planner)
}

// NoLaunchers returns why launchers are not served on a cluster with that policy, or "" if they
// are. Launchers need planned starts of jobs, and under some policies hardly any job has one.
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

// Overrun is how much longer than planned a managed job may run: Share of its total time, and at
// least Least. The job receives the signal Signal when only Grace is left of its overrun, or when
// another job waits for its nodes. The other job waits no longer than Grace.
type Overrun struct {
	Share  float64
	Least  time.Duration
	Grace  time.Duration
	Signal string // "" means no signal
}

// Early configures whether an application that ends its step early may continue early if that
// delays no other job.
type Early struct {
	Advance bool
}

// Silent configures how the sidecar informs jobs that never call `accordion step`.
type Silent struct {
	Notice time.Duration // how long before a shrink the job is informed
	Signal string
}

// Limits limit what one user may take from others through the sidecar.
type Limits struct {
	Unused   time.Duration // how long the whole pool needs for the node-seconds that a user's jobs may leave unused; above that, nothing is reserved ahead for them; 0 means no limit
	HalfLife time.Duration // time in which the counts for Unused halve

	ShortestStep   time.Duration // shortest step of a job with several steps; 0 means no limit. Use Config.ShortestStep
	ResizesPerHour int           // resizes of one job per hour; 0 means no limit
}

// Journal is the journal's path, and how long its entries are kept.
type Journal struct {
	Path string
	Keep time.Duration
}

// ShortestStep returns the shortest duration of each step of a job. The embedded batch system, for demonstrations, has no such limit.
func (c Config) ShortestStep() time.Duration {
	if c.System == SystemEmbedded {
		return 0
	}
	return c.Limits.ShortestStep
}

// Lease is how long a sidecar that died keeps sidecars on other hosts waiting.
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
	Level  string // trace, debug, info, warn, error
	Format string // text, json
	Events string // file for events, one JSON object per line; "" if there is none
}

// Metrics configures where Prometheus can read the metrics.
type Metrics struct {
	Listen string // HOST:PORT; "" means nowhere
}

// Web configures the server that shows the cluster to browsers.
type Web struct {
	Listen  string // HOST:PORT, or the absolute path of a Unix socket; "" means nowhere
	Names   string // host names by which browsers may address the server, separated by commas; "" means the names of this host
	Private bool   // users and names of jobs are hidden
}

// Example is the commented example: every key with its default.
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
	Line int    // line of the mistake, from 1; 0 means the file as a whole
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
