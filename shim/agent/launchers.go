package agent

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Name is what the program is called where an MPI launcher starts it: `accordion agent` by another name, for launchers take one word.
const Name = "accordion-agent"

// The variables that name a launcher's file of hosts. Each launcher has a form of its own: n1:4, or n1 slots=4.
const (
	HydraHosts = "HYDRA_HOST_FILE"
	OrteHosts  = "OMPI_MCA_orte_default_hostfile" // Open MPI up to 4
	PrteHosts  = "PRTE_MCA_prte_default_hostfile" // Open MPI from 5 on
)

// Variable is one of an environment.
type Variable struct{ Name, Value string }

// Launchers are the variables that make mpiexec of MPICH and mpirun of Open MPI start on the hosts of their files by the agent that
// lies at a path, on so many nodes.
func Launchers(agent, hydra, openmpi string, nodes int) []Variable {
	concurrent := strconv.Itoa(max(128, nodes)) // a daemon's agent stays: the next one must not wait for its end
	return []Variable{
		// Otherwise hydra would use srun as soon as it sees a job of Slurm. HYDRA_ENV=none: each rank has the environment that its
		// node gave to the agent's step, and not that of mpiexec, which speaks of the script's node and its devices.
		{"HYDRA_LAUNCHER", "ssh"}, {"HYDRA_LAUNCHER_EXEC", agent}, {"HYDRA_ENV", "none"}, {HydraHosts, hydra},
		// mpirun starts all daemons itself (no tree), and does not tell them these settings: the agent need not be where they run.
		{"OMPI_MCA_plm", "rsh"}, {"OMPI_MCA_plm_rsh_agent", agent}, {"OMPI_MCA_plm_rsh_no_tree_spawn", "1"},
		{"OMPI_MCA_plm_rsh_num_concurrent", concurrent}, {"OMPI_MCA_plm_rsh_pass_environ_mca_params", "0"},
		{"OMPI_MCA_ras", "^slurm"}, {OrteHosts, openmpi},
		{"PRTE_MCA_plm", "ssh"}, {"PRTE_MCA_plm_ssh_agent", agent}, {"PRTE_MCA_plm_ssh_no_tree_spawn", "1"},
		{"PRTE_MCA_plm_ssh_num_concurrent", concurrent}, {"PRTE_MCA_plm_ssh_pass_environ_mca_params", "0"},
		{"PRTE_MCA_ras", "^slurm"}, {PrteHosts, openmpi},
	}
}

// withoutLaunchers is an environment without them: for a daemon, which launches nothing, and where the paths may lead nowhere.
func withoutLaunchers(environment []string) []string {
	all := Launchers("", "", "", 0)
	return slices.DeleteFunc(slices.Clone(environment), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.ContainsFunc(all, func(l Variable) bool { return l.Name == name })
	})
}

var daemonized = regexp.MustCompile(`\b(orted|prted)("?)\s+--daemonize\b`)

// attached is a command without the word that tells a daemon of Open MPI to leave the foreground: its step would end with its first
// process, and the daemon with the step.
func attached(command string) string { return daemonized.ReplaceAllString(command, "$1$2") }
