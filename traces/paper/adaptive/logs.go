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

// Log is a real log of the claims that are ours.
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

// logShares are how many per cent of a log's jobs are moldable.
var logShares = []int{20, 50, 100}

// onReal are the policies that are compared on real logs, the first with the others.
var onReal = []string{
	"easy", "easy+least", "easy+share", rigid, "repeated+reference", "repeated+share", "scojo-p", "scojo-p:nonpredictive", "share",
}

// rigid is where nobody says that he is moldable: all jobs are as the log has them. (To a policy with sizes a job is rigid that lists one.)
const rigid = "repeated"

// ours are claims on logs beside that easy+share is better than EASY: the mean turnaround under one policy is less than under another.
var ours = []struct {
	policy, to string
	metric     int
	shares     map[string][]int // of the log's jobs that are moldable; logs that are not named: all shares
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

// logRun is what it came to.
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

// runLogs replays the logs. Jobs ask for what they asked for; scojo-p learns its statistics on the way.
func (e Experiment) runLogs(ctx context.Context, told func(int)) ([]logRun, error) {
	units, each := e.logUnits(), len(onReal)
	all := make([]logRun, len(units))
	err := paper.Each(ctx, len(units)/each, func(n int) { told(n * each) }, func(i int) error {
		return e.onLog(units[i*each:(i+1)*each], all[i*each:])
	})
	return all, err
}

// onLog replays the same jobs by each policy.
func (e Experiment) onLog(units []logUnit, into []logRun) error {
	log := units[0].log
	selected, err := log.Select(log.Log)
	if err != nil {
		return fmt.Errorf("replaying %s: %w", log.Name, err)
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

// The first of logMetrics.
const (
	turnaround = iota
	ofMoldable
)

// logMetrics are what is compared.
var logMetrics = []struct {
	name  string
	of    func(*replay.Metrics) float64
	apart bool // only where there are moldable jobs and others
}{
	{"turnaround", func(m *replay.Metrics) float64 { return m.Turnaround.Mean }, false},
	{"turnaround of moldable jobs", func(m *replay.Metrics) float64 { return m.MoldableTurnaround }, true},
	{"turnaround of others", func(m *replay.Metrics) float64 { return m.OtherTurnaround }, true},
	{"slowdown", func(m *replay.Metrics) float64 { return m.Slowdown.Mean }, false},
	{"longest wait", func(m *replay.Metrics) float64 { return m.Waiting.Max }, false},
	{"node-hours", func(m *replay.Metrics) float64 { return m.HeldArea }, false},
}

// onLogs is claim 14 on real logs, and claim 7: each policy to EASY with every job at its log's size, then what we claim.
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
			if run.policy == rigid && m > ofMoldable { // what is measured of nodes is of the jobs' sizes, which it was not told
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

// claimed are the rows of what we claim on a log and share; the runs are those of onReal.
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

// to is a row of a metric to that of another policy on the same log.
func (u *logRun) to(id string, other *replay.Metrics, metric int, by rule) Row {
	m := logMetrics[metric]
	ratio := m.of(&u.metrics) / m.of(other)
	return Row{
		ID: id, Workload: u.log.Name, Moldable: u.moldable, Metric: m.name, Class: classNames[all], Mean: ratio, Seeds: 1,
		four: ratio, Verdict: by.judge(estimate{Mean: ratio, Half: math.NaN()}), rule: by.words,
	}
}
