package loop

import (
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/delegated/apps"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/delegated/server"
)

// Cluster is a cluster on which applications may run, with the mailbox of its sidecar.
type Cluster struct {
	apps.Cluster
	Mailbox *mailbox.Mailbox
}

// Options are the options of a Loop.
type Options struct {
	Clusters []Cluster
	Links    []apps.Link
	Events   <-chan server.Event // the events of all servers
	Journal  *Journal
	Clock    adapter.Clock
	Log      hclog.Logger // nil if there is none
	Meter    Meter        // nil if nothing is measured
	Settings apps.Settings
}

// Meter measures the loop's work. The loop calls it.
type Meter interface {
	// Passed records how long a pass took.
	Passed(time.Duration)
	// Applications sets the number of applications in each state.
	Applications(byState map[string]int)
	// FailedPreparation counts a try to start an application that a cluster refused.
	FailedPreparation(cluster, why string)
}

type noMeter struct{}

func (noMeter) Passed(time.Duration)             {}
func (noMeter) Applications(map[string]int)      {}
func (noMeter) FailedPreparation(string, string) {}
