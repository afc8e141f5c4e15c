package delegated

import (
	"fmt"

	"accordion/core"
)

// Batch systems.
const (
	Delegated = "delegated" // sends views to launchers, which answer with requests
	OAR       = "oar"       // receives all configurations of an application, and chooses one
)

// Counters are the results of one run.
type Counters struct {
	RMS                    string    `json:"rms"`
	Clusters               int       `json:"clusters"`
	FairStart              core.Time `json:"fair_start"`
	Timer                  core.Time `json:"timer"`
	Applications           int       `json:"applications"`
	Unique                 int       `json:"unique"`         // configurations that applications computed, if each application caches its own
	UniqueCEM              int       `json:"unique_cem"`     // how many of the Unique configurations cem applications computed
	UniqueCEMAll           int       `json:"unique_cem_all"` // UniqueCEM if all cem applications shared one cache
	Changes                int       `json:"changes"`        // number of messages about views
	Requests               int       `json:"requests"`       // messages with requests
	BytesChange            int64     `json:"bytes_change"`
	BytesRequest           int64     `json:"bytes_request"`
	BytesDifference        int64     `json:"bytes_difference"` // size of the messages about changed views, if they had only the differences
	Passes                 int       `json:"passes"`
	LongestChain           int       `json:"longest_chain"` // the largest number of passes after one event from outside
	Waste                  core.Time `json:"waste"`         // host-seconds that ghosts held
	Makespan               core.Time `json:"makespan"`
	SumEnd                 core.Time `json:"sum_end"`
	OperationsRMS          int64     `json:"operations_rms"`
	OperationsApplications int64     `json:"operations_applications"`
	CEMHosts               int       `json:"cem_hosts"` // number of hosts on which cem applications ran

	// OperationsIndexed counts the steps of the indexed board. OperationsRMS counts the steps of plain lists. A
	// run uses one of the two boards.
	OperationsIndexed int64 `json:"operations_indexed,omitempty"`
}

// Beside combines two runs of the same jobs: it returns c, the counters of the run on plain lists, with OperationsIndexed of the run on the
// indexed board. All other counters must be equal.
func (c Counters) Beside(indexed Counters) (Counters, error) {
	c.OperationsIndexed, indexed.OperationsRMS = indexed.OperationsIndexed, c.OperationsRMS
	if c != indexed {
		return c, fmt.Errorf("the two boards differ: %+v on plain lists, %+v on the indexed board", c, indexed)
	}
	return c, nil
}

// Bytes returns the size of all messages.
func (c Counters) Bytes() int64 { return c.BytesChange + c.BytesRequest }

// Operations returns the basic operations of the batch system and the applications.
func (c Counters) Operations() int64 { return c.OperationsRMS + c.OperationsApplications }

// MeanEnd returns the mean second at which applications end.
func (c Counters) MeanEnd() float64 { return float64(c.SumEnd) / float64(max(1, c.Applications)) }
