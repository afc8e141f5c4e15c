package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"accordion/adapter/config"
	"accordion/cmd/accordion/command"
	"accordion/slurm"
)

// tryOut runs preflight's --try.
func (c *Cluster) tryOut(cmd *cobra.Command, conf config.Config, as string, asJSON bool) error {
	if c.try == nil {
		return command.Usage(fmt.Errorf("preflight --try is only for Slurm; this cluster is %s", conf.System))
	}
	if as == "" {
		return command.Usage(errors.New("preflight --try submits jobs: name a user, such as --as alice"))
	}
	lock, err := OnlyOne(cmd.Context(), c, "preflight --try")
	if err != nil {
		return err
	}
	defer lock.Release()
	leave, err := c.holdLease(cmd.Context(), "preflight --try")
	if err != nil {
		return err
	}
	defer leave()
	all, err := c.try(cmd.Context(), as, func(what string) { fmt.Fprintln(cmd.ErrOrStderr(), "trying", what) })
	if err != nil {
		return err
	}
	works := 0
	for _, t := range all {
		if t.Works {
			works++
		}
		if err := writeTrial(cmd, t, asJSON); err != nil {
			return err
		}
	}
	if works == 0 {
		return errors.New("no job can grow on this cluster: see above")
	}
	return nil
}

func writeTrial(cmd *cobra.Command, t slurm.Trial, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"way": t.Way, "works": t.Works, "why": t.Why,
			"start": t.Start.Seconds(), "growth": t.Growth.Seconds(), "shrink": t.Shrink.Seconds()})
	}
	line := fmt.Sprintf("no    growth by %s: %s", t.Way, t.Why)
	if t.Works {
		round := func(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }
		line = fmt.Sprintf("ok    growth by %s: started in %v, grew in %v, %s, shrank in %v", t.Way, round(t.Start), round(t.Growth), t.Why, round(t.Shrink))
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), line)
	return err
}
