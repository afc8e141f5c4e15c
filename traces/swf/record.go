package swf

import "slices"

// Unknown is an unknown value in a log.
const Unknown = -1

// Record is one job of a log, with its fields in the order of the format. Each may be Unknown, and they may contradict each other. A Record
// has 112 bytes, because logs of millions of jobs are in memory.
type Record struct {
	Number int64 // number of the job; the first job of a clean log has 1
	Submit int64 // seconds since the log's beginning (Header.UnixStart)
	Wait   int64 // seconds from the submission to the start
	Run    int64 // seconds from the start to the end

	CPU        float64 // used processor time in seconds, mean over the processors
	UsedMemory int64   // KB per processor, mean

	RequestedTime   int64 // seconds; the user's limit or estimate
	RequestedMemory int64 // KB per processor

	Preceding int64 // number of the job that this one waited for
	Think     int64 // seconds from the preceding job's end to this one's submission

	Processors          int32 // number of allocated processors
	RequestedProcessors int32

	Status      Status
	User        int32 // number of the user, from 1 on; Group, Application, Queue and Partition are numbered in the same way
	Group       int32
	Application int32
	Queue       int32 // 0 is the queue of interactive jobs, if the log has any
	Partition   int32
}

// Status is how a job ended.
type Status int32

// The statuses of the format. A job that was checkpointed or swapped out has a line with its sums, and one line for each burst in which it
// ran, with the status Part, LastPart or LastPartFailed (Burst).
const (
	Failed         Status = 0
	Completed      Status = 1
	Part           Status = 2 // continued in another burst
	LastPart       Status = 3 // last burst of a job that completed
	LastPartFailed Status = 4
	Cancelled      Status = 5 // canceled before or after its start
)

// Burst reports whether the record at i is a burst of the job above it: it has the number of that job, and a status of bursts. The line above
// the first burst has the sums of the job. Other lines with a status from 2 to 4 are jobs, because Sandia-Ross has exit codes in this field.
func Burst(records []Record, i int) bool {
	r := &records[i]
	return i > 0 && Part <= r.Status && r.Status <= LastPartFailed && r.Number == records[i-1].Number
}

// Summaries returns the records without bursts, one per job. It returns the same slice if there are no bursts.
func Summaries(records []Record) []Record {
	for i := range records {
		if Burst(records, i) {
			kept := slices.Clone(records[:i])
			for k := i; k < len(records); k++ {
				if !Burst(records, k) {
					kept = append(kept, records[k])
				}
			}
			return kept
		}
	}
	return records
}

// Size returns the number of processors of the job in a replay: the requested number, or the allocated number if that is unknown. The result is
// below 1 if both are unknown.
func (r *Record) Size() int32 {
	if r.RequestedProcessors > 0 {
		return r.RequestedProcessors
	}
	return r.Processors
}

// Field is one of the 18 fields of a line, counted from 1 as in the format's definition. 0 is the whole line.
type Field int

// Fields is the number of fields of a line.
const Fields = 18

// The fields.
const (
	FieldNumber Field = 1 + iota
	FieldSubmit
	FieldWait
	FieldRun
	FieldProcessors
	FieldCPU
	FieldUsedMemory
	FieldRequestedProcessors
	FieldRequestedTime
	FieldRequestedMemory
	FieldStatus
	FieldUser
	FieldGroup
	FieldApplication
	FieldQueue
	FieldPartition
	FieldPreceding
	FieldThink
)

var fieldNames = [Fields + 1]string{
	"line", "job number", "submit time", "wait time", "run time", "allocated processors", "average CPU time", "used memory",
	"requested processors", "requested time", "requested memory", "status", "user", "group", "application", "queue", "partition",
	"preceding job", "think time",
}

// String returns the name of the field: "run time".
func (f Field) String() string {
	if f < 0 || int(f) >= len(fieldNames) {
		return "no field"
	}
	return fieldNames[f]
}

// most returns the largest absolute value of a field. It is chosen so that sums do not overflow, and so that 32-bit fields fit.
func (f Field) most() int64 {
	switch f {
	case FieldProcessors, FieldRequestedProcessors, FieldStatus, FieldUser, FieldGroup, FieldApplication, FieldQueue, FieldPartition:
		return 1<<31 - 1
	}
	return MaxValue
}

// MaxValue is the largest number of a field, and −MaxValue the smallest. It is 31 million years in seconds. Processors, status, user, group,
// application, queue and partition are within 2³¹−1.
const MaxValue = 999_999_999_999_999

// values are the fields of one line before they become a Record. The average CPU time is separate.
type values [Fields]int64

// none is the values of a line without fields.
var none = func() (v values) {
	for i := range v {
		v[i] = Unknown
	}
	return v
}()

// record sets the record to the values.
func (v *values) record(r *Record, cpu float64) {
	r.Number, r.Submit, r.Wait, r.Run = v[0], v[1], v[2], v[3]
	r.Processors, r.CPU, r.UsedMemory = int32(v[4]), cpu, v[6]
	r.RequestedProcessors, r.RequestedTime, r.RequestedMemory = int32(v[7]), v[8], v[9]
	r.Status, r.User, r.Group = Status(v[10]), int32(v[11]), int32(v[12])
	r.Application, r.Queue, r.Partition = int32(v[13]), int32(v[14]), int32(v[15])
	r.Preceding, r.Think = v[16], v[17]
}

// of returns the values of a record, without the average CPU time.
func of(r *Record) values {
	return values{
		r.Number, r.Submit, r.Wait, r.Run, int64(r.Processors), 0, r.UsedMemory, int64(r.RequestedProcessors), r.RequestedTime,
		r.RequestedMemory, int64(r.Status), int64(r.User), int64(r.Group), int64(r.Application), int64(r.Queue), int64(r.Partition),
		r.Preceding, r.Think,
	}
}
