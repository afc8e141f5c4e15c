package shim

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// oar is a job under OAR. Its programs take their nodes from the file OAR_NODEFILE, which OAR wrote when the job began: a
// line for each of its resources (a core, mostly). That file is OAR's, and whoever reads it under the name he learnt at the
// job's start is not disturbed; the present nodes stand in one of the job's own, in the same form, and the variables name that.
type oar struct{}

var _ system = oar{}

// oarNodefile is the variable that OAR's manual names; the others are older names for the same file.
const oarNodefile = "OAR_NODEFILE"

var oarNodefiles = []string{oarNodefile, "OAR_FILE_NODES", "OAR_NODE_FILE", "OAR_RESOURCE_FILE"}

func (oar) described(env Getenv) []string {
	nodes, _ := readNodefile(env.get(oarNodefile))
	return nodes
}

// readNodefile reads the nodes in a file of OAR's, and how many lines each has. Nothing where there is no such file.
func readNodefile(path string) (nodes []string, lines map[string]int) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	lines = map[string]int{}
	for scan := bufio.NewScanner(f); scan.Scan(); {
		if node := scan.Text(); node != "" {
			if lines[node]++; lines[node] == 1 {
				nodes = append(nodes, node)
			}
		}
	}
	return nodes, lines
}

func (oar) ask(context.Context, int64) ([]string, error) {
	return nil, errors.New("OAR tells a job its nodes only at its start")
}

// export names a file with the nodes where OAR's does not have them. A node that is new is taken to have as many lines as the
// smallest one known.
func (oar) export(text *script, j job, has holding) (says []string) {
	old := j.env.get(oarNodefile)
	before, lines := readNodefile(old)
	if len(before) == 0 || sameSet(before, has.nodes) {
		return nil
	}
	fewest := lines[before[0]]
	for _, n := range lines {
		fewest = min(fewest, n)
	}
	var list []string
	for _, node := range has.nodes {
		n := lines[node]
		if n == 0 {
			n = fewest
		}
		list = append(list, slices.Repeat([]string{node}, n)...)
	}
	path, err := writeList(j, "nodes", oarNodefile, list)
	for _, name := range oarNodefiles {
		switch {
		case j.env.get(name) != old: // under some of OAR's resource managers it is another file
		case err == nil:
			text.export(name, path)
		default: // it speaks of the nodes before
			text.unset(name)
		}
	}
	if err != nil {
		says = append(says, fmt.Sprintf("no %s: %v", strings.Join(oarNodefiles, ", "), err))
	}
	return says
}
