package advise

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/traces/advise"
	"accordion/traces/advise/render"
)

// reviewManaged prints how well jobs matched their #EP and #MOLD requests, from the journals of the sidecars.
func (f *flags) reviewManaged(cmd *cobra.Command, o advise.Options) error {
	since, err := f.span()
	if err != nil {
		return command.Usage(fmt.Errorf("advise: %w", err))
	}
	clusters, err := f.clusters.Chosen()
	if err != nil {
		return err
	}
	from := time.Now().Unix() - since
	var jobs []advise.ManagedRun
	err = command.Each(cmd, clusters, func(c command.Cluster) error {
		j, err := c.Journal()
		if err != nil {
			return err
		}
		defer j.Close()
		its, err := runsFromJournal(j.Entries(0), from)
		jobs = append(jobs, its...)
		return err
	})
	if err != nil {
		return err
	}
	if f.user != "" {
		jobs = slices.DeleteFunc(jobs, func(j advise.ManagedRun) bool { return j.User != f.user })
	}
	reviews := advise.Reviews(jobs, o)
	if f.json {
		return render.ReviewsJSON(cmd.OutOrStdout(), reviews)
	}
	_, err = io.WriteString(cmd.OutOrStdout(), render.Reviews(reviews, len(jobs), f.top, f.quantile))
	return err
}
