package loop

import (
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/delegated/server"
)

// Cluster is one on which applications may run.
type Cluster struct {
	Name     string // unique
	Site     string // "": none
	Speed    float64
	Attrs    map[string]string
	Mailbox  *mailbox.Mailbox
	Embedded bool // it makes parts itself, at their start
}

// Link is what lies between two clusters or sites, or between the clusters of one site.
type Link struct {
	Between   [2]string
	Latency   time.Duration
	Bandwidth int // Mbit/s; 0: not known
}

// Settings are the section [delegate] of the configuration, and what goes with it.
type Settings struct {
	FairStart    time.Duration
	Timer        time.Duration
	Applications int
	Answer       time.Duration
	Grace        time.Duration
	BringUp      time.Duration
	Guard        time.Duration // added to the limits of batch jobs
	PerUser      int           // applications of a user at a time; 0: any number
	Pace         float64       // seconds of the clock a second; 0: 1
}

// Options are what a Loop works with.
type Options struct {
	Clusters []Cluster
	Links    []Link
	Events   <-chan server.Event // of all servers
	Journal  *Journal
	Clock    adapter.Clock
	Log      hclog.Logger
	Meter    Meter // nil: Deaf
	Settings Settings
}

// Meter hears how the loop does.
type Meter interface {
	// Passed is told how long a pass took.
	Passed(time.Duration)
	// Applications are how many there are of each state.
	Applications(byState map[string]int)
	// FailedPreparation is told of each try that a cluster refused.
	FailedPreparation(cluster, why string)
}

// Deaf is a Meter that hears nothing.
type Deaf struct{}

// Passed implements Meter.
func (Deaf) Passed(time.Duration) {}

// Applications implements Meter.
func (Deaf) Applications(map[string]int) {}

// FailedPreparation implements Meter.
func (Deaf) FailedPreparation(string, string) {}
