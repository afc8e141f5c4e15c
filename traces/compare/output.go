package compare

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"accordion/traces/files"
	"accordion/traces/replay"
	"accordion/traces/report"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// Replayed is a log with the jobs of the log that are replayed.
type Replayed struct {
	Log *swf.Log
	*workload.Selected
	Supposed workload.Supposed
}

// Describe returns what is replayed and what is left out.
func (r *Replayed) Describe() string { return r.Selected.Describe(r.Supposed) }

// String returns Describe after the name of the log.
func (r *Replayed) String() string { return r.Name + ": " + r.Describe() }

// Files returns the files of one run in a folder: jobs.csv, steps.csv, metrics.json and replayed.swf.
func (r *Replayed) Files(folder string, run Run, placed *replay.Placement) []files.File {
	at := func(name string, write func(io.Writer) error) files.File {
		return files.File{Path: filepath.Join(folder, name), Folder: true, Write: write}
	}
	return []files.File{
		at("jobs.csv", func(out io.Writer) error { return replay.WriteJobs(out, r.Selected, run.Result, placed) }),
		at("steps.csv", func(out io.Writer) error { return replay.WriteSteps(out, r.Selected, run.Result, placed) }),
		at("metrics.json", func(out io.Writer) error { return replay.WriteMetrics(out, run.Metrics, r.Selected) }),
		at("replayed.swf", func(out io.Writer) error { return replay.WriteSWF(out, r.Log, r.Selected, run.Result) }),
	}
}

// Report returns the files of the report on some runs: report.html, and its figures if `figures` is set.
// `placed` has the placement of each run. `command` is the command line, for the page's notes.
func (r *Replayed) Report(folder string, runs []Run, placed []*replay.Placement, command string, figures bool) ([]files.File, error) {
	page := Report(r.Workload, runs, placed)
	page.Note, page.Notes = r.Describe(), r.notes(command)
	if begin, ok := r.Log.Header.UnixStart(); ok {
		page.Begin = time.Unix(begin, 0).In(r.Log.Header.Location())
	}
	all := []files.File{{Path: filepath.Join(folder, "report.html"), Folder: true, Write: page.Write}}
	if !figures {
		return all, nil
	}
	drawn, err := page.Figures()
	if err != nil {
		return nil, err
	}
	for _, f := range drawn {
		all = append(all, files.File{Path: filepath.Join(folder, "figures", f.File), Folder: true, Write: f.Write})
	}
	return all, nil
}

// notes returns how the report was made, and what of the log was left out or repaired.
func (r *Replayed) notes(command string) []report.Note {
	all := []report.Note{{Name: "Command", Text: command}}
	if n := r.LeftOut.Total(); n > 0 {
		all = append(all, report.Note{Name: "Left out", Text: fmt.Sprintf("%d of %d jobs: %s", n, len(r.Log.Records), r.LeftOut)})
	}
	for _, line := range r.Log.Warnings.Lines() {
		all = append(all, report.Note{Name: "Mended", Text: line})
	}
	return all
}
