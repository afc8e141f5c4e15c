package traces

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"accordion/traces/workload"
)

// machineFlag is --nodes, the size of the machine. Its older name --machine counts processors, which differ from nodes only under
// --procs-per-node.
type machineFlag struct{ nodes, processors int }

func (m *machineFlag) register(c *cobra.Command) {
	c.Flags().IntVar(&m.nodes, "nodes", 0, "nodes of the machine (default: MaxProcs of the log's header, else MaxNodes)")
	c.Flags().IntVar(&m.processors, "machine", 0, "the same in the log's processors")
	_ = c.Flags().MarkHidden("machine") // the flag exists
}

// size returns the machine's processors, or 0 if the log has to state them.
func (m *machineFlag) size(c *cobra.Command, perNode int) (int, error) {
	nodes, processors := c.Flags().Changed("nodes"), c.Flags().Changed("machine")
	switch {
	case nodes && processors:
		return 0, errors.New("--nodes and --machine both say how large the machine is; give --nodes")
	case nodes && (m.nodes < 1 || m.nodes > workload.MaxNodes/max(1, perNode)):
		return 0, fmt.Errorf("--nodes: %d is not 1 to %d", m.nodes, workload.MaxNodes/max(1, perNode))
	case processors && (m.processors < 1 || m.processors > workload.MaxNodes):
		return 0, fmt.Errorf("--machine: %d is not 1 to %d", m.processors, workload.MaxNodes)
	case nodes:
		return m.nodes * max(1, perNode), nil
	}
	return m.processors, nil
}
