package adaptive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/traces/paper"
	"accordion/traces/replay"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// Log is a real log for our own claims.
type Log struct {
	Name string
	*swf.Log
	workload.Selection
}

// realLogs are the logs that ReadLogs reads. Jobs of LLNL-Atlas never wait at the logged load.
var realLogs = []struct {
	Name, File string
	workload.Selection
}{
	{"KTH", "KTH-SP2-1996-2.1-cln.swf.gz", workload.Selection{ProcsPerNode: 1}},
	{"SDSC-SP2", "SDSC-SP2-1998-4.2-cln.swf.gz", workload.Selection{ProcsPerNode: 1}},
	{"CTC", "CTC-SP2-1996-3.1-cln.swf.gz", workload.Selection{ProcsPerNode: 1}},
	{"HPC2N", "HPC2N-2002-2.2-cln.swf.gz", workload.Selection{ProcsPerNode: 2}},
	{"Atlas ×1.25", "LLNL-Atlas-2006-2.1-cln.swf.gz", workload.Selection{ProcsPerNode: 8, ScaleLoad: 1_250_000}},
}

// ReadLogs reads the real logs from a folder. It returns the names of the files that do not exist.
func ReadLogs(folder string) (all []Log, missing []string, err error) {
	for _, l := range realLogs {
		log, err := swf.ReadFile(filepath.Join(folder, l.File), swf.Options{})
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, l.File)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		all = append(all, Log{Name: l.Name, Log: log, Selection: l.Selection})
	}
	return all, missing, nil
}

// logShares are the percentages of moldable jobs.
var logShares = []int{20, 50, 100}

// onReal are the policies that are compared on real logs. The others are compared with the first one.
var onReal = []string{
	"easy", "easy+least", "easy+share", rigid, "repeated+reference", "repeated+share", "scojo-p", "scojo-p:nonpredictive", "share",
}

// rigid is the policy that gets all jobs as the log has them, and no moldable jobs. (A policy with sizes treats a job with a single size as
// rigid.)
const rigid = "repeated"

// ours are our claims on logs, besides the claim that easy+share is better than EASY. Each says that a mean turnaround is smaller under the
// policy `policy` than under the policy `to`.
var ours = []struct {
	policy, to string
	metric     int
	shares     map[string][]int // percentages of moldable jobs, by log; a log that is not listed has all of logShares
}{
	{"repeated+share", "repeated+reference", turnaround, nil},
	{"repeated+share", rigid, ofMoldable, nil},
	{"share", "scojo-p", turnaround, map[string][]int{
		"KTH": {50, 100}, "SDSC-SP2": {50, 100}, "CTC": {50, 100}, "HPC2N": {50, 100}, "Atlas ×1.25": {100},
	}},
}

// logUnit is one policy on one log.
type logUnit struct {
	log      Log
	moldable int
	policy   string
}

// logRun is the result of a logUnit.
type logRun struct {
	logUnit
	metrics replay.Metrics
}

func (e Experiment) logUnits() []logUnit {
	var all []logUnit
	for _, log := range e.Logs {
		for _, moldable := range logShares {
			for _, p := range onReal {
				all = append(all, logUnit{log, moldable, p})
			}
		}
	}
	return all
}

// runLogs replays the logs. Requested times come from the logs. scojo-p learns its statistics during the replay.
func (e Experiment) runLogs(ctx context.Context, progress func(int)) ([]logRun, error) {
	units, each := e.logUnits(), len(onReal)
	all := make([]logRun, len(units))
	err := paper.Each(ctx, len(units)/each, func(n int) { progress(n * each) }, func(i int) error {
		return e.onLog(units[i*each:(i+1)*each], all[i*each:])
	})
	return all, err
}

// onLog replays the same jobs under each policy.
func (e Experiment) onLog(units []logUnit, into []logRun) error {
	log := units[0].log
	selected, err := log.Select(log.Log)
	if err != nil {
		return fmt.Errorf("replay %s: %w", log.Name, err)
	}
	logged := selected.Workload
	logged.Jobs = slices.Clone(logged.Jobs)
	workload.WhatIf{Moldable: float64(units[0].moldable) / 100, Curve: workload.Piecewise, Seed: e.Seed}.Apply(&selected.Workload)
	from, to := kept(len(selected.Workload.Jobs))
	measured := selected.Workload
	measured.Jobs = measured.Jobs[from:to]
	for i, u := range units {
		p, err := policy.Named(u.policy, sched.FirstCome)
		if err != nil {
			return err
		}
		jobs := selected.Workload
		if u.policy == rigid {
			jobs = logged
		}
		result := replay.Run(jobs, p)
		result.Outcomes = result.Outcomes[from:to]
		into[i] = logRun{u, replay.Measure(measured, result)}
	}
	return nil
}

// Indexes of the first logMetrics.
const (
	turnaround = iota
	ofMoldable
)

// logMetrics are the metrics that are compared.
var logMetrics = []struct {
	name  string
	of    func(*replay.Metrics) float64
	apart bool // the metric exists only if there are both moldable and other jobs
}{
	{"turnaround", func(m *replay.Metrics) float64 { return m.Turnaround.Mean }, false},
	{"turnaround of moldable jobs", func(m *replay.Metrics) float64 { return m.MoldableTurnaround }, true},
	{"turnaround of others", func(m *replay.Metrics) float64 { return m.OtherTurnaround }, true},
	{"slowdown", func(m *replay.Metrics) float64 { return m.Slowdown.Mean }, false},
	{"longest wait", func(m *replay.Metrics) float64 { return m.Waiting.Max }, false},
	{"node-hours", func(m *replay.Metrics) float64 { return m.HeldArea }, false},
}

// onLogs returns claims 14 and 7 on real logs: each policy relative to EASY with every job at the log's size, and then our own claims.
func (d *Data) onLogs() []Row {
	var rows []Row
	for i := range d.logs {
		first := &d.logs[i-i%len(onReal)].metrics
		run := &d.logs[i]
		if i%len(onReal) == 0 {
			continue
		}
		if run.policy == string(blind) && run.moldable == 100 {
			rows = append(rows, run.to("7.blind/scojo", &d.logs[i-1].metrics, 0, little))
		}
		for m := range logMetrics {
			if run.policy == rigid && m > ofMoldable { // metrics of nodes would use sizes that this policy did not get
				break
			}
			by := none
			if run.policy == "easy+share" && m == turnaround {
				by = better
			}
			if run.moldable < 100 || !logMetrics[m].apart {
				rows = append(rows, run.to("14."+run.policy+"/easy", first, m, by))
			}
		}
	}
	for i := 0; i < len(d.logs); i += len(onReal) {
		rows = append(rows, claimed(d.logs[i:i+len(onReal)])...)
	}
	return rows
}

// claimed returns the rows of our claims for a log and a share. `runs` has one run per element of onReal.
func claimed(runs []logRun) []Row {
	var rows []Row
	for _, c := range ours {
		run, to := &runs[slices.Index(onReal, c.policy)], &runs[slices.Index(onReal, c.to)]
		if c.shares == nil || slices.Contains(c.shares[run.log.Name], run.moldable) {
			rows = append(rows, run.to("14."+c.policy+"/"+c.to, &to.metrics, c.metric, better))
		}
	}
	return rows
}

// to returns the row of a metric relative to another policy on the same log.
func (u *logRun) to(id string, other *replay.Metrics, metric int, by rule) Row {
	m := logMetrics[metric]
	ratio := m.of(&u.metrics) / m.of(other)
	return Row{
		ID: id, Workload: u.log.Name, Moldable: u.moldable, Metric: m.name, Class: classNames[all], Mean: ratio, Seeds: 1,
		four: ratio, Verdict: by.judge(estimate{Mean: ratio, Half: math.NaN()}), rule: by.words,
	}
}
