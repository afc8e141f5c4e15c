package shim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"accordion/shim/allocation"
	"accordion/shim/tasks"
)

// AgentName is what the program is called where an MPI launcher starts it instead of ssh: `accordion agent` by another name, for
// launchers take one word.
const AgentName = "accordion-agent"

// The variables by which MPI launchers know their hosts. Each launcher has a file of its own form.
const (
	hydraHosts = "HYDRA_HOST_FILE"
	orteHosts  = "OMPI_MCA_orte_default_hostfile" // Open MPI up to 4
	prteHosts  = "PRTE_MCA_prte_default_hostfile" // Open MPI from 5 on
)

// launcherVariables are all that exportCompanions sets.
var launcherVariables = []string{
	"HYDRA_LAUNCHER", "HYDRA_LAUNCHER_EXEC", "HYDRA_ENV", hydraHosts,
	"OMPI_MCA_plm", "OMPI_MCA_plm_rsh_agent", "OMPI_MCA_plm_rsh_no_tree_spawn", "OMPI_MCA_plm_rsh_num_concurrent",
	"OMPI_MCA_orte_leave_session_attached", "OMPI_MCA_ras", orteHosts,
	"PRTE_MCA_plm", "PRTE_MCA_plm_ssh_agent", "PRTE_MCA_plm_ssh_no_tree_spawn", "PRTE_MCA_plm_ssh_num_concurrent",
	"PRTE_MCA_ras", prteHosts,
}

// exportCompanions makes the environment speak of the allocations beside the job, and makes mpiexec and mpirun start on all of them.
// Where there are none it takes back what an earlier step, or the job that submitted this one, has exported.
func exportCompanions(text *script, j job, list allocation.List, ratio tasks.Ratio) (says []string) {
	if len(list) < 2 {
		if _, set := j.env(allocation.Variable); set {
			text.unset(allocation.Variable)
			for _, name := range launcherVariables {
				text.unset(name)
			}
		}
		return nil
	}
	text.export(allocation.Variable, list.String())
	if err := exportLaunchers(text, j, list, ratio); err != nil {
		for _, name := range launcherVariables { // what they say is of the nodes before
			text.unset(name)
		}
		return []string{fmt.Sprintf("mpiexec and mpirun reach the job's own nodes only: %v", err)}
	}
	return nil
}

func exportLaunchers(text *script, j job, list allocation.List, ratio tasks.Ratio) error {
	var hydra, ompi []string
	nodes := list.Nodes()
	for i, slots := range tasks.Spread(ratio.On(len(nodes)), len(nodes)) {
		hydra = append(hydra, fmt.Sprintf("%s:%d", nodes[i], slots))
		ompi = append(ompi, fmt.Sprintf("%s slots=%d", nodes[i], slots))
	}
	hydraFile, err1 := writeList(j, "hydra", hydraHosts, hydra)
	ompiFile, err2 := writeList(j, "openmpi", orteHosts, ompi)
	agent, err3 := linkAgent(j)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	// MPICH's hydra would use srun as soon as it sees a job of Slurm. HYDRA_ENV=none: each rank has the environment that its node
	// gave to the agent's step, and not that of mpiexec, which speaks of the script's node and its GPUs.
	text.export("HYDRA_LAUNCHER", "ssh")
	text.export("HYDRA_LAUNCHER_EXEC", agent)
	text.export("HYDRA_ENV", "none")
	text.export(hydraHosts, hydraFile)
	// Open MPI's daemons must stay in the foreground, or their step ends and they with it; mpirun starts all of them itself, since
	// the agent knows the allocations where the script runs; and it waits for none before it starts the next.
	concurrent := strconv.Itoa(max(128, len(nodes)))
	for _, v := range [][2]string{
		{"OMPI_MCA_plm", "rsh"}, {"OMPI_MCA_plm_rsh_agent", agent}, {"OMPI_MCA_plm_rsh_no_tree_spawn", "1"},
		{"OMPI_MCA_plm_rsh_num_concurrent", concurrent}, {"OMPI_MCA_orte_leave_session_attached", "1"}, {"OMPI_MCA_ras", "^slurm"},
		{orteHosts, ompiFile},
		{"PRTE_MCA_plm", "ssh"}, {"PRTE_MCA_plm_ssh_agent", agent}, {"PRTE_MCA_plm_ssh_no_tree_spawn", "1"},
		{"PRTE_MCA_plm_ssh_num_concurrent", concurrent}, {"PRTE_MCA_ras", "^slurm"},
		{prteHosts, ompiFile},
	} {
		text.export(v[0], v[1])
	}
	return nil
}

// linkAgent gives this program its name as an agent, in the user's own directory: no right to execute is needed there. It is replaced
// in one piece, since other jobs of the user may have it in use.
func linkAgent(j job) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir, err := ownDirectory(j)
	if err != nil {
		return "", err
	}
	link := filepath.Join(dir, AgentName)
	if strings.ContainsAny(link, " \t") {
		return "", fmt.Errorf("%s: launchers take no path with blanks: set TMPDIR to one without", link)
	}
	if old, err := os.Readlink(link); err == nil && old == program {
		return link, nil
	}
	next := filepath.Join(dir, fmt.Sprintf(".%d.%s", os.Getpid(), AgentName))
	if err := os.Symlink(program, next); err != nil {
		return "", err
	}
	if err := os.Rename(next, link); err != nil {
		os.Remove(next)
		return "", err
	}
	return link, nil
}
