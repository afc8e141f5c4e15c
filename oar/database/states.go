package database

import (
	"strings"
)

// OAR's states, as far as we act on them.
const (
	StateWaiting = "Waiting"
	StateHold    = "Hold"
)

// Conditions on a job's state.
const (
	IsWaiting = "j.state IN ('Waiting', 'Hold', 'toAckReservation')"
	IsHolding = "j.state IN ('toLaunch', 'Launching', 'Running', 'Suspended', 'Resuming', 'Finishing', 'toError')"
	// IsWhole is that all of a job is there. oarsub writes it piece by piece, its types one by one, in a transaction each; until the last
	// one the job is held, and its first entry in the log of states comes after all types and dependencies (OAR::IO, add_micheline_job).
	IsWhole = "(j.state <> 'Hold' OR EXISTS (SELECT 1 FROM job_state_logs l WHERE l.job_id = j.job_id))"
	IsLive  = "j.state IN ('Waiting', 'Hold', 'toAckReservation', 'toLaunch', 'Launching', 'Running', 'Suspended', 'Resuming', 'Finishing', 'toError')"
)

// OneLine is an error in one line.
func OneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// MostSaid is how many characters a job's message has (jobs.message).
const MostSaid = 255

// Short makes a text fit for a job's message, with room for others: on one line, of bounded length.
func Short(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > MostSaid/2 {
		runes = append(runes[:MostSaid/2], '…')
	}
	return string(runes)
}
