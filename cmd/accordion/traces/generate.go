package traces

import (
	"fmt"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/core"
	"accordion/traces/model"
	"accordion/traces/swf"
)

// generator is the flags of "trace generate".
type generator struct {
	model string
	l     model.Lublin // both models use its jobs and seed
}

// The models of "trace generate".
const (
	benchmark = "benchmark"
	lublin    = "lublin"
)

func generateCommand() *cobra.Command {
	var (
		out logOutput
		g   generator
	)
	c := &cobra.Command{
		Use:   "generate",
		Short: "Make a log of random jobs",
		Long: `Make a log of random jobs. The same seed gives the same log.

benchmark: the log of our benchmarks, for 1,024 nodes. It is easy to reproduce in a few lines of code.

lublin: the model of Lublin and Feitelson (JPDC 63, 2003), jobs of one type, as in its published generator. Run times depend on sizes,
and submissions follow the hours of the day. A lower --alpha gives more load.`,
		Args: command.NoArguments,
	}
	out.flags(c)
	c.Flags().StringVar(&g.model, "model", benchmark, "model of the jobs: benchmark or lublin")
	c.Flags().IntVar(&g.l.Jobs, "jobs", 10_000, "number of jobs")
	c.Flags().Uint64Var(&g.l.Seed, "seed", model.GeneratedSeed, "random seed")
	c.Flags().IntVar(&g.l.Nodes, "nodes", 128, "lublin: nodes of the machine")
	c.Flags().Float64Var(&g.l.Alpha, "alpha", 10.23, "lublin: parameter of the times between submissions")
	command.Complete(c, "model", benchmark, lublin)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		log, err := g.log(cmd.Flags().Changed)
		if err != nil {
			return command.Usage(fmt.Errorf("generate: %w", err))
		}
		return out.write(cmd, log)
	}
	return c
}

// log returns the generated log, or an error if the command line is wrong.
func (g *generator) log(given func(flag string) bool) (*swf.Log, error) {
	const most = 10_000_000
	switch l := g.l; {
	case l.Jobs < 1 || l.Jobs > most:
		return nil, fmt.Errorf("--jobs %d is not 1 to %d", l.Jobs, most)
	case g.model == benchmark && (given("nodes") || given("alpha")):
		return nil, fmt.Errorf("--nodes and --alpha are for --model lublin")
	case g.model == benchmark:
		return model.Generated(l.Jobs, l.Seed), nil
	case g.model != lublin:
		return nil, fmt.Errorf("--model %s is neither benchmark nor lublin", core.Shown(g.model))
	case l.Nodes < 1 || l.Nodes > core.MaxNodes:
		return nil, fmt.Errorf("--nodes %d is not 1 to %d", l.Nodes, core.MaxNodes)
	case !(l.Alpha >= 1 && l.Alpha <= model.MostAlpha):
		return nil, fmt.Errorf("--alpha %v is not 1 to %d", l.Alpha, model.MostAlpha)
	default:
		return l.Log(), nil
	}
}
