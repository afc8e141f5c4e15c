package view

import "accordion/core"

// Applications are what there is to be seen of the applications of launchers (delegated scheduling). Seconds are Unix seconds of the sidecar's clock; 0 is none.
type Applications struct {
	At           core.Time            `json:"at"`
	Clusters     []ApplicationCluster `json:"clusters"`
	Applications []Application        `json:"applications"` // by rank; those that have not subscribed last
}

// ApplicationCluster is a cluster in Applications.
type ApplicationCluster struct {
	Name  string `json:"name"`
	Hosts int    `json:"hosts"`
	Lost  bool   `json:"lost,omitempty"`  // not read for a minute: all its hosts are busy in the views
	Never bool   `json:"never,omitempty"` // not read yet
}

// Application is an application in Applications.
type Application struct {
	ID       int64             `json:"id"`
	Name     string            `json:"name,omitempty"`
	User     string            `json:"user"`
	State    string            `json:"state"` // as launchers are told it: submitted, request sent, waiting, started, being ended, ghost
	Phase    string            `json:"phase"` // more exactly: what is being done to start it
	Rank     core.Time         `json:"rank,omitempty"`
	Parts    []ApplicationPart `json:"parts"`
	Tag      int64             `json:"tag"` // of the request in force; -1: none
	Walltime core.Time         `json:"walltime,omitempty"`
	Estimate core.Time         `json:"estimate,omitempty"` // of its start
	Moved    string            `json:"moved,omitempty"`    // what moved the estimate last
	Why      string            `json:"why,omitempty"`      // why it waits
	View     int64             `json:"view"`               // shown last
	Acked    int64             `json:"acked"`              // acknowledged last
	Launcher bool              `json:"launcher"`           // is there
	Away     core.Time         `json:"away,omitempty"`     // since when it is not
	Owes     core.Time         `json:"owes,omitempty"`     // since when it owes an answer to what was shown
	At       core.Time         `json:"at,omitempty"`       // of its start
	By       core.Time         `json:"by,omitempty"`       // its latest end
	Went     core.Time         `json:"went,omitempty"`     // when its parts were let through
	Tries    int               `json:"tries"`              // to start it, in all
	Failed   string            `json:"failed,omitempty"`   // why the last one came to nothing
}

// ApplicationPart is an application's part on one cluster.
type ApplicationPart struct {
	Cluster string     `json:"cluster"`
	Job     core.JobID `json:"job"`   // its batch job; 0: none
	Hosts   int        `json:"hosts"` // that the request in force asks for; 0: it does not use this cluster
	Stand   string     `json:"stand,omitempty"`
	Nodes   []string   `json:"nodes,omitempty"`
}
