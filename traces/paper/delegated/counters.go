package delegated

import (
	"fmt"

	"accordion/core"
)

// The batch systems.
const (
	Delegated = "delegated" // launchers are shown views, and answer with requests
	OAR       = "oar"       // it is told every configuration, and chooses
)

// Counters are what one run comes to.
type Counters struct {
	RMS                    string    `json:"rms"`
	Clusters               int       `json:"clusters"`
	FairStart              core.Time `json:"fair_start"`
	Timer                  core.Time `json:"timer"`
	Applications           int       `json:"applications"`
	Unique                 int       `json:"unique"`         // configurations that applications computed, each keeping its own
	UniqueCEM              int       `json:"unique_cem"`     // of these, by cem applications
	UniqueCEMAll           int       `json:"unique_cem_all"` // if all cem applications kept them together
	Changes                int       `json:"changes"`        // messages about views
	Requests               int       `json:"requests"`       // messages
	BytesChange            int64     `json:"bytes_change"`
	BytesRequest           int64     `json:"bytes_request"`
	BytesDifference        int64     `json:"bytes_difference"` // of messages about views but the first ones, if they said only what differs
	Passes                 int       `json:"passes"`
	LongestChain           int       `json:"longest_chain"` // passes after one event from outside
	Waste                  core.Time `json:"waste"`         // host-seconds held by ghosts
	Makespan               core.Time `json:"makespan"`
	SumEnd                 core.Time `json:"sum_end"`
	OperationsRMS          int64     `json:"operations_rms"`
	OperationsApplications int64     `json:"operations_applications"`
	CEMHosts               int       `json:"cem_hosts"` // that cem applications ran on

	// OperationsIndexed are the indexed board's own steps, in place of OperationsRMS: a run is made on one of the two boards.
	OperationsIndexed int64 `json:"operations_indexed,omitempty"`
}

// Beside is what a run on plain lists counted, and beside it the steps of the same run on the indexed board. All else must be
// the same.
func (c Counters) Beside(indexed Counters) (Counters, error) {
	c.OperationsIndexed, indexed.OperationsRMS = indexed.OperationsIndexed, c.OperationsRMS
	if c != indexed {
		return c, fmt.Errorf("the two boards differ: %+v on plain lists, %+v on the indexed board", c, indexed)
	}
	return c, nil
}

// Bytes are those of all messages.
func (c Counters) Bytes() int64 { return c.BytesChange + c.BytesRequest }

// Operations are the basic operations of the batch system and the applications.
func (c Counters) Operations() int64 { return c.OperationsRMS + c.OperationsApplications }

// MeanEnd is the second at which applications end on the average.
func (c Counters) MeanEnd() float64 { return float64(c.SumEnd) / float64(max(1, c.Applications)) }
