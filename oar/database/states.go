package database

import (
	"strings"
)

// OAR's states that Accordion acts on.
const (
	StateWaiting = "Waiting"
	StateHold    = "Hold"
)

// Conditions on a job's state.
const (
	IsWaiting = "j.state IN ('Waiting', 'Hold', 'toAckReservation')"
	IsHolding = "j.state IN ('toLaunch', 'Launching', 'Running', 'Suspended', 'Resuming', 'Finishing', 'toError')"
	// IsWhole is true of a job that is written completely. oarsub writes a job in several transactions, one for each type.
	// Until the last one the job is on hold, and its first entry in the log of states comes after all types and
	// dependencies (OAR::IO, add_micheline_job).
	IsWhole = "(j.state <> 'Hold' OR EXISTS (SELECT 1 FROM job_state_logs l WHERE l.job_id = j.job_id))"
	IsLive  = "j.state IN ('Waiting', 'Hold', 'toAckReservation', 'toLaunch', 'Launching', 'Running', 'Suspended', 'Resuming', 'Finishing', 'toError')"
)

// OneLine returns an error's text as one line.
func OneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// MessageSize is how many characters a job's message may have (jobs.message).
const MessageSize = 255

// Short shortens a text to one line that fits into a job's message together with other text.
func Short(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > MessageSize/2 {
		runes = append(runes[:MessageSize/2], '…')
	}
	return string(runes)
}
