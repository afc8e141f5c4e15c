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

// oar is a job under OAR. Its programs read their nodes from the file OAR_NODEFILE, which OAR wrote when the job began. It has a line for
// each of the job's resources, which are mostly cores. The shim does not change that file, so that programs which have read its path at the
// job's start still find it. It writes the present nodes into another file of the same form, and sets the variables to the path of that
// file.
type oar struct{}

var _ system = oar{}

// oarNodefile is the variable that OAR's manual names. The others are older names for the same file.
const oarNodefile = "OAR_NODEFILE"

var oarNodefiles = []string{oarNodefile, "OAR_FILE_NODES", "OAR_NODE_FILE", "OAR_RESOURCE_FILE"}

func (oar) described(env Getenv) []string {
	nodes, _ := readNodefile(env.get(oarNodefile))
	return nodes
}

// readNodefile reads a node file of OAR. It returns the nodes and the number of lines of each. Both are nil when there
// is no such file.
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

// export sets the variables to a file with the job's nodes, if OAR's own file has other nodes. A new node gets as many lines as the known
// node with the fewest lines.
func (oar) export(text *script, j job, has holding) (messages []string) {
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
		case j.env.get(name) != old: // under some of OAR's resource managers the variable names another file
		case err == nil:
			text.export(name, path)
		default: // the file contains the previous nodes
			text.unset(name)
		}
	}
	if err != nil {
		messages = append(messages, fmt.Sprintf("no %s: %v", strings.Join(oarNodefiles, ", "), err))
	}
	return messages
}
