package srun

import (
	"slices"
	"strconv"
	"strings"
)

// jobVariables are the variables SLURM_* that a step in another allocation may get: where Slurm is, who submitted the
// job, and its name. The other ones describe the job's own allocation: with them srun would ask for its nodes and sizes
// in the other allocation.
var jobVariables = strings.Fields(`CONF CLUSTER_NAME WORKING_CLUSTER JOB_NAME SUBMIT_DIR SUBMIT_HOST RESTART_COUNT ARRAY_JOB_ID ARRAY_TASK_ID
ARRAY_TASK_COUNT ARRAY_TASK_MIN ARRAY_TASK_MAX ARRAY_TASK_STEP`)

// optionVariables are what a user, or the job's own options, may ask of every srun, for a node or a task of any
// allocation.
var optionVariables = strings.Fields(`ACCTG_FREQ COMPRESS CPUS_PER_GPU CPUS_PER_TASK CPU_FREQ_REQ DEBUG DEBUG_FLAGS DISABLE_STATUS DISTRIBUTION
DIST_PLANESIZE EPILOG EXACT EXCLUSIVE EXIT_ERROR EXIT_IMMEDIATE EXPORT_ENV GPUS_PER_NODE GPUS_PER_TASK GPU_BIND GPU_FREQ GRES_FLAGS HINT
IMMEDIATE KILL_BAD_EXIT LABELIO MPI_TYPE NETWORK NO_KILL NTASKS_PER_CORE NTASKS_PER_SOCKET OOMKILLSTEP OPEN_MODE OVERCOMMIT OVERLAP
PMI_KVS_NO_DUP_KEYS PROFILE PROLOG REMOTE_CWD RESV_PORTS SEND_LIBS SIGNAL SRUN_REDUCE_TASK_EXIT_MSG STEP_GRES STEP_KILLED_MSG_NODE_ID
TASK_EPILOG TASK_PROLOG TEST_EXEC THREADS THREADS_PER_CORE THREAD_SPEC TRES_BIND TRES_PER_TASK UMASK UNBUFFEREDIO WAIT WCKEY WHOLE`)

// bindings are options too in a job's script. Inside a step they tell how the present task is bound.
var bindings = strings.Fields(`CPU_BIND MEM_BIND`)

// devices tell which of a node's accelerators belong to the job.
var devices = strings.Fields(`CUDA_VISIBLE_DEVICES GPU_DEVICE_ORDINAL ROCR_VISIBLE_DEVICES ZE_AFFINITY_MASK`)

// replaced are the variables for which options are used instead: the sizes of the whole job, and files that are not the
// same for all tasks.
var replaced = strings.Fields(`SLURM_HOSTFILE SLURM_NNODES SLURM_NTASKS SLURM_NPROCS SLURM_NTASKS_PER_NODE SLURM_STDINMODE
SLURM_STDOUTMODE SLURM_STDERRMODE SLURM_OPEN_MODE SRUN_INPUT SRUN_OUTPUT SRUN_ERROR`)

// For returns an environment for an srun in the allocation of a job. It removes the variables for the number of nodes
// and tasks and for the output, because this srun gets options for these. For another job than the one that the
// environment describes, it also removes what describes the allocation (Elsewhere).
func For(job int64, environment []string) []string {
	if !slices.Contains(environment, "SLURM_JOB_ID="+strconv.FormatInt(job, 10)) {
		environment = Elsewhere(environment)
	}
	return slices.DeleteFunc(slices.Clone(environment), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(replaced, name) || v == arbitrary
	})
}

// arbitrary uses a list of hosts of one allocation, perhaps of earlier nodes.
const arbitrary = "SLURM_DISTRIBUTION=arbitrary"

// Elsewhere returns an environment for an srun in another allocation than the one that the environment describes. It
// keeps what was asked of every srun, and removes the nodes, sizes and devices.
func Elsewhere(environment []string) []string {
	known := slices.Concat(jobVariables, optionVariables)
	if !slices.ContainsFunc(environment, func(v string) bool { return strings.HasPrefix(v, "SLURM_STEP_ID=") }) {
		known = append(known, bindings...)
	}
	return slices.DeleteFunc(slices.Clone(environment), func(v string) bool {
		return v == arbitrary || isForeign(v, known)
	})
}

// Bare returns an environment like Elsewhere, for a step that gets no options from the user. It also removes SRUN_*,
// which are options.
func Bare(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(v string) bool {
		return strings.HasPrefix(v, "SRUN_") || isForeign(v, jobVariables)
	})
}

// isForeign reports whether a variable describes another allocation: it is a SLURM_* that is not known, or describes
// devices.
func isForeign(variable string, known []string) bool {
	name, _, _ := strings.Cut(variable, "=")
	if rest, ours := strings.CutPrefix(name, "SLURM_"); ours {
		return !slices.Contains(known, rest)
	}
	return slices.Contains(devices, name)
}
