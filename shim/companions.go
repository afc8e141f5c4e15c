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

// exportCompanions makes the environment speak of the allocations beside the job, and makes mpiexec and mpirun start on all of them.
// Where there are none it takes back what an earlier step, or the job that submitted this one, has exported.
func exportCompanions(text *script, j job, list allocation.List, ratio allocation.Ratio) (says []string) {
	if len(list) < 2 {
		if _, set := j.env(allocation.Variable); set {
			text.unset(allocation.Variable)
			unsetLaunchers(text)
		}
		return nil
	}
	text.export(allocation.Variable, list.String())
	if err := exportLaunchers(text, j, list, ratio); err != nil {
		unsetLaunchers(text) // what they say is of the nodes before
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

// linkAgent gives this program its name as an agent, in the user's own directory: no right to execute is needed there. It is replaced
// in one piece, since other jobs of the user may have it in use.
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
		return "", fmt.Errorf("%s: launchers take no path with blanks: set TMPDIR to one without", link)
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
