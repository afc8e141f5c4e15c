package shim

import (
	"bufio"
	"context"
	"errors"
	"os"
	"slices"
)

// oar is a job under OAR. Its programs take their nodes from the file OAR_NODEFILE, one line a core, which belongs to
// OAR: it stays as it is, and the present nodes are in ACCORDION_HOSTFILE.
type oar struct{}

var _ system = oar{}

func (oar) described(env Getenv) []string {
	f, err := os.Open(env.get("OAR_NODEFILE"))
	if err != nil {
		return nil
	}
	defer f.Close()
	var nodes []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if node := lines.Text(); node != "" && !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

func (oar) ask(context.Context, int64) ([]string, error) {
	return nil, errors.New("OAR tells a job its nodes only at its start")
}

func (oar) export(*script, job, []string) string { return "" }
