package client

import (
	"errors"
	"strings"
)

// A Refusal is a reason why Slurm refuses a command. Its value is the name of the reason in Slurm's source.
type Refusal string

// The known refusals. Those that begin with ESLURM are errors of slurmctld and slurmd. The others are messages of
// client programs.
const (
	InvalidJob           Refusal = "ESLURM_INVALID_JOB_ID"
	JobCompleting        Refusal = "ESLURM_ALREADY_DONE"
	JobFinished          Refusal = "ESLURM_JOB_FINISHED"
	JobNotPending        Refusal = "ESLURM_JOB_NOT_PENDING"
	NumberAwaited        Refusal = "ESLURM_JOB_SETTING_DB_INX"
	StepExists           Refusal = "ESLURMD_STEP_EXISTS"
	NodesBusy            Refusal = "ESLURM_NODES_BUSY"
	NodeUnavailable      Refusal = "ESLURM_NODE_NOT_AVAIL"
	NodesUnfit           Refusal = "ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE"
	FeatureInvalid       Refusal = "ESLURM_INVALID_FEATURE"
	NotFirst             Refusal = "ESLURM_NOT_TOP_PRIORITY"
	Fragmented           Refusal = "ESLURM_FRAGMENTATION"
	NotImmediately       Refusal = "ESLURM_CAN_NOT_START_IMMEDIATELY"
	DependencyProblem    Refusal = "ESLURM_DEPENDENCY"
	LimitExceeded        Refusal = "ESLURM_ACCOUNTING_POLICY"
	PartitionUnavailable Refusal = "ESLURM_PARTITION_NOT_AVAIL"
	PartitionDown        Refusal = "ESLURM_PARTITION_DOWN"
	PartitionUnfit       Refusal = "ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE"
	ReservationInvalid   Refusal = "ESLURM_RESERVATION_INVALID"
	ReservationDenied    Refusal = "ESLURM_RESERVATION_ACCESS"
	ReservationUnusable  Refusal = "ESLURM_RESERVATION_NOT_USABLE"
	ReservationInUse     Refusal = "ESLURM_RESERVATION_BUSY"
	ReservationOverlaps  Refusal = "ESLURM_RESERVATION_OVERLAP"
	ReservationExists    Refusal = "ESLURM_RESERVATION_NAME_DUP"
	ReservedMaintenance  Refusal = "ESLURM_RESERVATION_MAINT"
	Queued               Refusal = "salloc: queued"
	ReservationNotFound  Refusal = "scontrol: reservation not found"
	NotForUsers          Refusal = "job_submit.lua: not for users"
)

// A refusalText is the message of a refusal. The releases 20.11, 22.05, 24.11 and 26.05 have the same messages,
// except that newer releases lack some of them.
type refusalText struct {
	text  string
	until string // the first release without this message; "" if all releases have it
}

// refusalTexts holds the messages of refusals (slurm_errno.c), without %s and %u.
var refusalTexts = map[Refusal]refusalText{
	InvalidJob:           {text: "Invalid job id specified"},
	JobCompleting:        {text: "Job/step already completing or completed"},
	JobFinished:          {text: "Job has already finished"},
	JobNotPending:        {text: "Job is no longer pending execution"},
	NumberAwaited:        {text: "Job update not available right now, the DB index is being set, try again in a bit", until: "24.11"},
	StepExists:           {text: "Job step already exists"},
	NodesBusy:            {text: "Requested nodes are busy"},
	NodeUnavailable:      {text: "Required node not available (down, drained or reserved)"},
	NodesUnfit:           {text: "Requested node configuration is not available"},
	FeatureInvalid:       {text: "Invalid feature specification"},
	NotFirst:             {text: "Immediate execution impossible, insufficient priority"},
	Fragmented:           {text: "Immediate execution impossible, resources too fragmented for allocation"},
	NotImmediately:       {text: "Job can not start immediately"},
	DependencyProblem:    {text: "Job dependency problem"},
	LimitExceeded:        {text: "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"},
	PartitionUnavailable: {text: "Required partition not available (inactive or drain)"},
	PartitionDown:        {text: "Partition in DOWN state"},
	PartitionUnfit:       {text: "Requested partition configuration not available now"},
	ReservationInvalid:   {text: "Requested reservation is invalid"},
	ReservationDenied:    {text: "Access denied to requested reservation"},
	ReservationUnusable:  {text: "Requested reservation not usable now"},
	ReservationInUse:     {text: "Requested reservation is in use"},
	ReservationOverlaps:  {text: "Requested reservation overlaps with another reservation"},
	ReservationExists:    {text: "Duplicate reservation name"},
	ReservedMaintenance:  {text: "Job can not start due to maintenance reservation."},
	Queued:               {text: "queued and waiting for resources"},
	ReservationNotFound:  {text: " not found"},
	NotForUsers:          {text: "is not for users"},
}

// Refused reports whether err is a Failure with the message of one of the refusals.
func Refused(err error, refusals ...Refusal) bool {
	var f *Failure
	if !errors.As(err, &f) {
		return false
	}
	said := strings.ToLower(f.Said)
	for _, r := range refusals {
		if strings.Contains(said, strings.ToLower(refusalTexts[r].text)) {
			return true
		}
	}
	return false
}
