package advise

import (
	"testing"

	"accordion/traces/swf"

	"github.com/google/go-cmp/cmp"
)

func TestRecordBecomesRun(t *testing.T) {
	log := &swf.Log{Records: []swf.Record{
		{Number: 7, Submit: 100, Wait: 10, Run: 60, RequestedTime: 90, Processors: 4, RequestedProcessors: 3, Status: swf.Completed, User: 2, Group: 3, Application: 14, Queue: 1, Partition: -1},
		{Number: 8, Submit: 100, Wait: -1, Run: 90, RequestedTime: 90, Processors: 4, RequestedProcessors: -1, Status: swf.Completed, User: 2, Group: 3, Application: 15, Queue: 1, Partition: -1},
		{Number: 9, Submit: 100, Wait: 5, Run: -1, Processors: -1, RequestedProcessors: -1, Status: swf.Cancelled, User: -1, Application: -1},
	}}
	log.Header.Set("UnixStartTime", "5000")
	got, unnamed := FromLog(log)
	one := Run{ID: "7", User: "user 2", Account: "group 3", Partition: "queue 1 of partition -1", Name: "executable 14", Submit: 5100, Start: 5110, End: 5170, Requested: 3,
		Limit: 90, Held: 3, Completed: true, Exact: true, Script: -1}
	met := one
	met.ID, met.Start, met.End, met.Requested, met.Held, met.Completed, met.Name = "8", 5100, 5190, 4, 4, false, "executable 15"
	none := Run{ID: "9", User: "user -1", Account: "group 0", Partition: "queue 0 of partition 0", Name: "all jobs", Submit: 5100, Start: 5105, End: 5105, Exact: true, Script: -1}
	if diff := cmp.Diff([]Run{one, met, none}, got); diff != "" || unnamed {
		t.Errorf("unnamed %t (-want +got):\n%s", unnamed, diff)
	}
	log.Records = log.Records[2:]
	if _, unnamed = FromLog(log); !unnamed {
		t.Error("nobody knows what ran")
	}
}

// TestExecutablesAreDistinguished tests numbers of executables. Different numbers are different jobs, unlike job
// names that differ only in their digits.
func TestExecutablesAreDistinguished(t *testing.T) {
	var log swf.Log
	for i := range int64(36) {
		size := int32(2) << (i % 2)
		run := int64(4000)
		if size == 4 {
			run = 2500
		}
		app := int32(1 + i/18)
		log.Records = append(log.Records, swf.Record{Number: i + 1, Submit: 5000 * i, Wait: 0, Run: run * int64(app*app), RequestedTime: 90000, Processors: size, RequestedProcessors: size,
			Status: swf.Completed, User: 1, Group: 1, Application: app, Queue: 1, Partition: 1})
	}
	runs, _ := FromLog(&log)
	report := Make(runs, Options{})
	var lines []string
	for _, s := range report.Sizes {
		lines = append(lines, s.Name+" "+s.Line)
	}
	if diff := cmp.Diff([]string{"executable 1 #MOLD 2x1h14m|4x46m", "executable 2 #MOLD 2x4h54m|4x3h4m"}, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if report.NoAdvice.NoSteps != len(runs) {
		t.Errorf("%+v", report.NoAdvice)
	}
}
