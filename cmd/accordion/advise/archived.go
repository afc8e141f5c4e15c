package advise

import (
	"fmt"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/traces/advise"
	"accordion/traces/advise/archive"
	"accordion/traces/swf"
)

// archived is a workload log that the runs are of.
type archived struct {
	*swf.Log
	unnamed bool // it knows no executables
}

// fromLog reads a workload log: sizes and times of jobs.
func fromLog(cmd *cobra.Command, f *flags, job string) (*heard, error) {
	switch {
	case job != "":
		return nil, command.Usage(fmt.Errorf("advise: %s is a workload log, which knows nothing of a job's steps: name no job", f.file))
	case f.user != "":
		return nil, command.Usage(fmt.Errorf("advise: %s is a workload log, whose users have numbers only: leave out --user", f.file))
	}
	log, err := swf.ReadFile(f.file, swf.Options{})
	if err != nil {
		return nil, command.Usage(err)
	}
	for _, line := range log.Warnings.Lines() {
		fmt.Fprintln(cmd.ErrOrStderr(), "accordion: warning:", line)
	}
	log.Records = swf.Summaries(log.Records)
	h := &heard{log: &archived{Log: log}}
	h.runs, h.log.unnamed = archive.Runs(log)
	return h, nil
}

// cannot says what the log does not know.
func (a *archived) cannot() string {
	text := "A workload log knows sizes and times: not what steps a job had (so there is no #EP), nor what its input was."
	if a.unnamed {
		return text + "\nThis one does not name programs, either: all that a user has in one queue passes for one job. Look twice at its lines.\n"
	}
	return text + "\n"
}

// summary says what all of it comes to.
func (a *archived) summary(report *advise.Report, h *heard) string {
	runs := 0
	for i := range report.Sizes {
		runs += report.Sizes[i].Runs
	}
	text := fmt.Sprintf("Of %d jobs %d are runs of %s, each on several sizes.\n", len(h.runs), runs, count(len(report.Sizes), "program"))
	if runs == 0 {
		text = fmt.Sprintf("Of %d jobs no program was run on several sizes so that these can be compared: there is no line.\n", len(h.runs))
	}
	return text + a.cannot()
}
