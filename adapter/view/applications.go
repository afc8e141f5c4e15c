package view

import "accordion/core"

// Applications is what `accordion status` shows of the launchers' applications (delegated scheduling). Times are Unix seconds of the
// sidecar's clock. A time is 0 if it does not apply.
type Applications struct {
	At           core.Time            `json:"at"`
	Clusters     []ApplicationCluster `json:"clusters"`
	Applications []Application        `json:"applications"` // ordered by rank; an application whose launcher has not subscribed has no rank, and comes last
}

// ApplicationCluster is one of the clusters that applications may use.
type ApplicationCluster struct {
	Name  string `json:"name"`
	Hosts int    `json:"hosts"`
	Lost  bool   `json:"lost,omitempty"`  // the cluster has not been read for a minute, so that views of launchers show all its hosts as busy
	Never bool   `json:"never,omitempty"` // the cluster has not been read yet
}

// Application describes one application of a launcher.
type Application struct {
	ID       int64             `json:"id"`
	Name     string            `json:"name,omitempty"`
	User     string            `json:"user"`
	State    string            `json:"state"` // the state as launchers see it: submitted, request sent, waiting, started, being ended, ghost
	Phase    string            `json:"phase"` // the state in more detail: what is being done to start the application
	Rank     core.Time         `json:"rank,omitempty"`
	Parts    []ApplicationPart `json:"parts"`
	Tag      int64             `json:"tag"` // number of the current request; -1 if there is none
	Walltime core.Time         `json:"walltime,omitempty"`
	Estimate core.Time         `json:"estimate,omitempty"` // estimated start
	Moved    string            `json:"moved,omitempty"`    // what last changed the estimate
	Why      string            `json:"why,omitempty"`      // why the application waits
	View     int64             `json:"view"`               // number of the last view sent
	Acked    int64             `json:"acked"`              // number of the last view acknowledged
	Launcher bool              `json:"launcher"`           // whether the launcher is connected
	Away     core.Time         `json:"away,omitempty"`     // when the launcher disconnected
	Owes     core.Time         `json:"owes,omitempty"`     // when the answer to the last view was due, if the launcher has not answered it
	At       core.Time         `json:"at,omitempty"`       // when the application started
	By       core.Time         `json:"by,omitempty"`       // the latest time at which the application ends
	Went     core.Time         `json:"went,omitempty"`     // when all parts of the application had arrived at the barrier
	Tries    int               `json:"tries"`              // number of attempts to start the application
	Failed   string            `json:"failed,omitempty"`   // why the last attempt failed
}

// ApplicationPart is an application's part on one cluster.
type ApplicationPart struct {
	Cluster string     `json:"cluster"`
	Job     core.JobID `json:"job"`   // the part's batch job; 0 if there is none
	Hosts   int        `json:"hosts"` // number of hosts in the current request; 0 if the request does not use this cluster
	Stand   string     `json:"stand,omitempty"`
	Nodes   []string   `json:"nodes,omitempty"`
}
