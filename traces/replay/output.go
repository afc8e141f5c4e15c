package replay

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"accordion/core"
	"accordion/core/ep"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// jobsHeader has the columns of jobs.csv: the columns of Batsim, which evalys reads.
const jobsHeader = "job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time," +
	"execution_time,finish_time,waiting_time,turnaround_time,stretch,consumed_energy,allocated_resources\n"

// WriteJobs writes jobs.csv, one row per job in the order of the log. Times are in whole seconds. success is 0 for a job that was cut at its
// requested time. stretch is turnaround over execution time; for a moldable job it is turnaround over execution time in the log.
// consumed_energy is −1, because the energy is unknown. The requested resources are the nodes of a rigid job, the chosen size of a moldable
// job, and the peak of an evolving job. The allocated resources of an evolving job are all nodes that it ever held; steps.csv has the nodes of
// each step. If a job never began, the columns about its run are empty.
func WriteJobs(out io.Writer, s *workload.Selected, r Result, p *Placement) error {
	if _, err := io.WriteString(out, jobsHeader); err != nil {
		return err
	}
	name, order := quoted(s.Name), inLogOrder(s)
	return writeRows(out, len(order), func(rows []byte, k int) []byte {
		i := order[k]
		rows = appendJob(rows, &s.Jobs[i], r.Outcomes[i], name)
		return append(p.Job(i).Append(rows), '\n')
	})
}

// appendJob appends a row without the allocated resources.
func appendJob(row []byte, j *workload.Job, o Outcome, name string) []byte {
	number := func(n int64) { row = append(strconv.AppendInt(row, n, 10), ',') }
	text := func(s string) { row = append(append(row, s...), ',') }
	nodes, request := j.Size, j.Request
	if j.Kind() == workload.Moldable && o.Choice >= 0 && o.Start >= 0 {
		nodes, request = o.Nodes(j), j.Choices[o.Choice].Total()
	}
	number(j.Number)
	text(name)
	number(j.Submit)
	number(int64(nodes))
	number(request)
	if o.Start < 0 {
		return append(row, "0,,,,,,,,"...)
	}
	if j.Cut {
		number(0)
	} else {
		number(1)
	}
	number(o.Start)
	number(o.End - o.Start)
	number(o.End)
	number(o.Start - j.Submit)
	number(o.End - j.Submit)
	row = append(appendMillionths(row, o.End-j.Submit, o.ran(j)), ',')
	number(-1)
	return row
}

// appendMillionths appends a/b with six decimals, rounded.
func appendMillionths(text []byte, a, b int64) []byte {
	const places = 1_000_000
	b = max(b, 1)
	whole, rest := a/b, workload.MulDiv(a%b, places, b)
	if twice := workload.MulDiv(a%b, 2*places, b); twice-2*rest == 1 { // half of the last decimal, or more
		rest++
	}
	if rest == places {
		whole, rest = whole+1, 0
	}
	text = append(strconv.AppendInt(text, whole, 10), '.')
	for unit := int64(places / 10); unit > 0; unit /= 10 {
		text = append(text, '0'+byte(rest/unit%10))
	}
	return text
}

// quoted returns a field of a CSV file.
func quoted(field string) string {
	if strings.ContainsAny(field, ",\"\r\n") {
		return `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
	}
	return field
}

// inLogOrder returns the indexes of the jobs in the order of the log.
func inLogOrder(s *workload.Selected) []int {
	order := make([]int, len(s.Jobs))
	for i := range order {
		order[i] = i
	}
	if !slices.IsSorted(s.Records) {
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.Records[a], s.Records[b]) })
	}
	return order
}

// stepsHeader has the columns of steps.csv. Columns that jobs.csv has, too, have the same names.
const stepsHeader = "job_id,step,starting_time,execution_time,finish_time,requested_number_of_resources,allocated_resources\n"

// WriteSteps writes steps.csv, one row for each stretch in which an evolving or malleable job held the same nodes. Jobs are in the order of
// the log, and steps are numbered from 0. A job that was run as a rigid job has one row.
func WriteSteps(out io.Writer, s *workload.Selected, r Result, p *Placement) error {
	w := bufio.NewWriter(out)
	w.WriteString(stepsHeader)
	for _, i := range inLogOrder(s) {
		if k := s.Jobs[i].Kind(); k != workload.Evolving && k != workload.Malleable {
			continue
		}
		for k, step := range p.Steps(i, r) {
			fmt.Fprintf(w, "%d,%d,%d,%d,%d,%d,%s\n", s.Jobs[i].Number, k, step.From, step.To-step.From, step.To, step.Nodes.Count(), step.Nodes)
		}
	}
	return w.Flush()
}

// metricsFile is the content of metrics.json: the metrics, how the workload was selected, and what was left out.
type metricsFile struct {
	Metrics
	Records   int            `json:"records"`  // jobs in the log
	LeftOut   map[string]int `json:"left_out"` // number of jobs by reason, without zeros
	Estimates string         `json:"estimates"`
}

// WriteMetrics writes metrics.json.
func WriteMetrics(out io.Writer, m Metrics, s *workload.Selected) error {
	file := metricsFile{Metrics: m, Records: len(s.Jobs) + s.LeftOut.Total(), LeftOut: map[string]int{}, Estimates: s.Selection.Estimates.String()}
	for why, n := range s.LeftOut {
		if n > 0 {
			file.LeftOut[workload.Reason(why).Key()] = n
		}
	}
	e := json.NewEncoder(out)
	e.SetIndent("", " ")
	return e.Encode(file)
}

// WriteSWF writes replayed.swf: the jobs of the replay in order of submission, with their outcomes. Wait times, run times,
// and allocated and requested processors come from the replay, in its nodes. Evolving jobs have their requested profiles
// (swf.Log.EPs). Everything else is as in the log. A job that never began has −1 as wait time, run time and allocated processors.
func WriteSWF(out io.Writer, log *swf.Log, s *workload.Selected, r Result) error {
	header := swf.Header{Lines: slices.Clone(log.Header.Lines)}
	nodes := strconv.Itoa(s.Machine.Nodes)
	header.Set("MaxJobs", strconv.Itoa(len(s.Jobs)))
	header.Set("MaxRecords", strconv.Itoa(len(s.Jobs)))
	header.Set("MaxNodes", nodes)
	header.Set("MaxProcs", nodes)
	header.Add("Note", "replayed by accordion under "+r.Policy+": wait, run time and allocated processors are not the log's")
	eps := map[int64]core.EP{}
	for i := range s.Jobs {
		if j := &s.Jobs[i]; j.Kind() == workload.Evolving && ep.Check(j.Choices[0], s.Machine.Nodes) == nil {
			eps[j.Number] = j.Choices[0]
		}
	}
	w, err := swf.NewWriter(out, &header, eps)
	if err != nil {
		return err
	}
	for i, o := range r.Outcomes {
		j := &s.Jobs[i]
		rec := log.Records[s.Records[i]]
		rec.Submit, rec.Wait, rec.Run, rec.Processors = j.Submit, swf.Unknown, swf.Unknown, swf.Unknown
		rec.RequestedProcessors, rec.RequestedTime = int32(j.Size), j.Request
		if o.Start >= 0 {
			rec.Wait, rec.Run, rec.Processors = o.Start-j.Submit, o.End-o.Start, int32(o.Nodes(j))
		}
		if j.Cut {
			rec.Status = swf.Failed
		}
		if err := w.Write(&rec); err != nil {
			return err
		}
	}
	return w.Flush()
}
