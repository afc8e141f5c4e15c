package shim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"accordion/shim/agent"
	"accordion/shim/allocation"
)

// exportCompanions exports the job's allocations, and makes mpiexec and mpirun start ranks on all of them. For a job without companions, it
// unsets the variables that an earlier step, or the job that submitted this one, has exported.
func exportCompanions(text *script, j job, list allocation.List, ratio allocation.Ratio) (messages []string) {
	if len(list) < 2 {
		if _, set := j.env(allocation.Variable); set {
			text.unset(allocation.Variable)
			unsetLaunchers(text)
		}
		return nil
	}
	text.export(allocation.Variable, list.String())
	if err := exportLaunchers(text, j, list, ratio); err != nil {
		unsetLaunchers(text) // the variables describe the previous nodes
		return []string{fmt.Sprintf("mpiexec and mpirun reach the job's own nodes only: %v", err)}
	}
	return nil
}

func exportLaunchers(text *script, j job, list allocation.List, ratio allocation.Ratio) error {
	var hydra, ompi []string
	nodes := list.Nodes()
	for i, slots := range allocation.Spread(ratio.On(len(nodes)), len(nodes)) {
		hydra = append(hydra, fmt.Sprintf("%s:%d", nodes[i], slots))
		ompi = append(ompi, fmt.Sprintf("%s slots=%d", nodes[i], slots))
	}
	hydraFile, err1 := writeList(j, "hydra", agent.HydraHosts, hydra)
	ompiFile, err2 := writeList(j, "openmpi", agent.OrteHosts, ompi)
	link, err3 := linkAgent(j)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	for _, v := range agent.Launchers(link, hydraFile, ompiFile, len(nodes)) {
		text.export(v.Name, v.Value)
	}
	return nil
}

func unsetLaunchers(text *script) {
	for _, v := range agent.Launchers("", "", "", 0) {
		text.unset(v.Name)
	}
}

// linkAgent creates a symbolic link to this program in the user's own directory, under the agent's name. A link works even if no programs
// may be executed from that directory. linkAgent replaces an existing link by a rename, because other jobs of the user may be using it.
func linkAgent(j job) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir, err := allocation.Directory(j.env.get("TMPDIR"))
	if err != nil {
		return "", err
	}
	link := filepath.Join(dir, agent.Name)
	if strings.ContainsAny(link, " \t") {
		return "", fmt.Errorf("%s: launchers accept no path with blanks: set TMPDIR to a path without them", link)
	}
	if old, err := os.Readlink(link); err == nil && old == program {
		return link, nil
	}
	next := filepath.Join(dir, fmt.Sprintf(".%d.%s", os.Getpid(), agent.Name))
	if err := os.Symlink(program, next); err != nil {
		return "", err
	}
	if err := os.Rename(next, link); err != nil {
		os.Remove(next)
		return "", err
	}
	return link, nil
}
