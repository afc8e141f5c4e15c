package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"accordion/adapter"
	"accordion/cmd/accordion/command"
)

// Preflight is "accordion preflight".
func Preflight() *cobra.Command {
	c := &cobra.Command{
		Use:   "preflight",
		Short: "Say whether this cluster is fit for the sidecar, and what to change",
		Long: `Look at everything of the cluster that the sidecar depends on, change nothing, and say what is wrong and how to mend
it. Lines begin with fail (the sidecar would not start: exit status 1), warn, note or ok.

With --try, as root, and while no sidecar serves the cluster, jobs of its own start, grow, run a bound step on each node and shrink,
one in each way in which jobs can grow here: two minutes at most, on two idle nodes.`,
		Args: command.NoArguments,
	}
	file := command.ConfigFlag(c)
	asJSON := c.Flags().Bool("json", false, "print one JSON object a finding, for programs")
	try := c.Flags().Bool("try", false, "let jobs start, grow and shrink, and say what this cluster can do (Slurm)")
	as := c.Flags().String("as", os.Getenv("SUDO_USER"), "the user whose jobs --try submits")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		conf, err := file.Load()
		if err != nil {
			return err
		}
		system, err := connect(cmd.Context(), conf, hclog.NewNullLogger())
		if err != nil {
			return err
		}
		defer system.close()
		if system.sizes != "" {
			conf.Plan.Sizes = system.sizes
		}
		if _, err := plannerOf(conf.Plan); err != nil {
			return err
		}
		found := system.preflight(cmd.Context())
		if err := writeFindings(cmd.OutOrStdout(), found, *asJSON); err != nil {
			return err
		}
		if adapter.Failures(found) > 0 {
			return command.ExitError{Status: 1} // the findings have said it
		}
		if *try {
			return system.tryOut(cmd, conf, *as, *asJSON)
		}
		if *asJSON {
			return nil
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "ok    fit for the sidecar: %s; sizes of moldable jobs: %s\n", system.pool, conf.Plan.Sizes)
		return err
	}
	return c
}

// words are how preflight calls the severities.
var words = map[adapter.Severity]string{adapter.Fatal: "fail", adapter.Unanswered: "fail", adapter.Warning: "warn", adapter.Note: "note"}

func writeFindings(w io.Writer, found []adapter.Finding, asJSON bool) error {
	for _, f := range found {
		var err error
		if asJSON {
			err = json.NewEncoder(w).Encode(map[string]string{"severity": words[f.Severity], "what": f.What, "fix": f.Fix})
		} else if _, err = fmt.Fprintf(w, "%s  %s\n", words[f.Severity], f.What); err == nil && f.Fix != "" {
			_, err = fmt.Fprintf(w, "      do: %s\n", f.Fix)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
