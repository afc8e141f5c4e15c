package view

import "accordion/core"

// Applications is what `accordion status` shows of the launchers' applications (delegated scheduling). Times are Unix seconds by the
// sidecar's clock; 0: none.
type Applications struct {
	At           core.Time            `json:"at"`
	Clusters     []ApplicationCluster `json:"clusters"`
	Applications []Application        `json:"applications"` // by rank; at the end those whose launcher has not subscribed
}

// ApplicationCluster is one of the clusters that applications may use.
type ApplicationCluster struct {
	Name  string `json:"name"`
	Hosts int    `json:"hosts"`
	Lost  bool   `json:"lost,omitempty"`  // not read for a minute: in the views all its hosts are busy
	Never bool   `json:"never,omitempty"` // not read yet
}

// Application is an application of a launcher.
type Application struct {
	ID       int64             `json:"id"`
	Name     string            `json:"name,omitempty"`
	User     string            `json:"user"`
	State    string            `json:"state"` // as launchers see it: submitted, request sent, waiting, started, being ended, ghost
	Phase    string            `json:"phase"` // the same in more detail: what is being done to start it
	Rank     core.Time         `json:"rank,omitempty"`
	Parts    []ApplicationPart `json:"parts"`
	Tag      int64             `json:"tag"` // number of the current request; -1: none
	Walltime core.Time         `json:"walltime,omitempty"`
	Estimate core.Time         `json:"estimate,omitempty"` // estimated start
	Moved    string            `json:"moved,omitempty"`    // what changed the estimate last
	Why      string            `json:"why,omitempty"`      // why it waits
	View     int64             `json:"view"`               // number of the last view sent
	Acked    int64             `json:"acked"`              // number of the last view acknowledged
	Launcher bool              `json:"launcher"`           // the launcher is connected
	Away     core.Time         `json:"away,omitempty"`     // since when it is not
	Owes     core.Time         `json:"owes,omitempty"`     // since when it should have answered the last view
	At       core.Time         `json:"at,omitempty"`       // when it started
	By       core.Time         `json:"by,omitempty"`       // when it ends at the latest
	Went     core.Time         `json:"went,omitempty"`     // when its parts passed the barrier
	Tries    int               `json:"tries"`              // number of attempts to start it
	Failed   string            `json:"failed,omitempty"`   // why the last attempt failed
}

// ApplicationPart is an application's part on one cluster.
type ApplicationPart struct {
	Cluster string     `json:"cluster"`
	Job     core.JobID `json:"job"`   // the part's batch job; 0: none
	Hosts   int        `json:"hosts"` // in the current request; 0: it does not use this cluster
	Stand   string     `json:"stand,omitempty"`
	Nodes   []string   `json:"nodes,omitempty"`
}
