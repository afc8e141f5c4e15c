package agent

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Name is the program name under which an MPI launcher starts `accordion agent`. Launchers accept only a program name, without arguments.
const Name = "accordion-agent"

// The environment variables with the path of a launcher's host file. Each launcher has its own format: n1:4, or n1 slots=4.
const (
	HydraHosts = "HYDRA_HOST_FILE"
	OrteHosts  = "OMPI_MCA_orte_default_hostfile" // up to Open MPI 4
	PrteHosts  = "PRTE_MCA_prte_default_hostfile" // from Open MPI 5 on
)

// Variable is an environment variable.
type Variable struct{ Name, Value string }

// Launchers returns environment variables for mpiexec of MPICH and mpirun of Open MPI. With these, both start their daemons through the
// agent at the path `agent`, on the hosts of their host files. `nodes` is the number of these hosts.
func Launchers(agent, hydra, openmpi string, nodes int) []Variable {
	concurrent := strconv.Itoa(max(128, nodes)) // An agent runs as long as its daemon, so as many agents as hosts must be able to run simultaneously.
	return []Variable{
		// Without HYDRA_LAUNCHER, hydra uses srun inside a job of Slurm. With HYDRA_ENV=none, each rank gets the environment of the agent's
		// step on its node. Otherwise the rank would get mpiexec's environment, which describes the node and the devices of the job's
		// script.
		{"HYDRA_LAUNCHER", "ssh"}, {"HYDRA_LAUNCHER_EXEC", agent}, {"HYDRA_ENV", "none"}, {HydraHosts, hydra},
		// mpirun starts all daemons itself (no tree) and does not pass these settings to them, because the agent may not
		// exist on their hosts.
		{"OMPI_MCA_plm", "rsh"}, {"OMPI_MCA_plm_rsh_agent", agent}, {"OMPI_MCA_plm_rsh_no_tree_spawn", "1"},
		{"OMPI_MCA_plm_rsh_num_concurrent", concurrent}, {"OMPI_MCA_plm_rsh_pass_environ_mca_params", "0"},
		{"OMPI_MCA_ras", "^slurm"}, {OrteHosts, openmpi},
		{"PRTE_MCA_plm", "ssh"}, {"PRTE_MCA_plm_ssh_agent", agent}, {"PRTE_MCA_plm_ssh_no_tree_spawn", "1"},
		{"PRTE_MCA_plm_ssh_num_concurrent", concurrent}, {"PRTE_MCA_plm_ssh_pass_environ_mca_params", "0"},
		{"PRTE_MCA_ras", "^slurm"}, {PrteHosts, openmpi},
	}
}

// withoutLaunchers returns an environment without the variables that Launchers returns. It is for a daemon, which launches nothing, and on
// whose host the paths may not exist.
func withoutLaunchers(environment []string) []string {
	all := Launchers("", "", "", 0)
	return slices.DeleteFunc(slices.Clone(environment), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.ContainsFunc(all, func(l Variable) bool { return l.Name == name })
	})
}

var daemonized = regexp.MustCompile(`\b(orted|prted)("?)\s+--daemonize\b`)

// attached returns a command without the option that sends a daemon of Open MPI to the background. Otherwise the step would end with its
// first process, and Slurm would end the daemon too.
func attached(command string) string { return daemonized.ReplaceAllString(command, "$1$2") }
