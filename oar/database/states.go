package database

import (
	"strings"
)

// States of OAR's jobs in which Accordion acts on the jobs.
const (
	StateWaiting = "Waiting"
	StateHold    = "Hold"
)

// Conditions on a job's state.
const (
	IsWaiting = "j.state IN ('Waiting', 'Hold', 'toAckReservation')"
	IsHolding = "j.state IN ('toLaunch', 'Launching', 'Running', 'Suspended', 'Resuming', 'Finishing', 'toError')"
	// IsWhole is the condition that a job is completely written. oarsub writes a job in several transactions, one for each type. Until the
	// last of them the job is on hold. Its first entry in the log of states is written after all types and dependencies (OAR::IO,
	// add_micheline_job).
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
