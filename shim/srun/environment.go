package srun

import (
	"slices"
	"strconv"
	"strings"
)

// jobVariables are the variables SLURM_* that a step in another allocation may get. They contain the address of Slurm, the user, and the
// name of the job. The other variables describe the job's own allocation; with them, srun would request that allocation's nodes and sizes
// in the other allocation.
var jobVariables = strings.Fields(`CONF CLUSTER_NAME WORKING_CLUSTER JOB_NAME SUBMIT_DIR SUBMIT_HOST RESTART_COUNT ARRAY_JOB_ID ARRAY_TASK_ID
ARRAY_TASK_COUNT ARRAY_TASK_MIN ARRAY_TASK_MAX ARRAY_TASK_STEP`)

// optionVariables are the variables with options for every srun, set by a user or by the job's own options. They concern each node or task,
// in any allocation.
var optionVariables = strings.Fields(`ACCTG_FREQ COMPRESS CPUS_PER_GPU CPUS_PER_TASK CPU_FREQ_REQ DEBUG DEBUG_FLAGS DISABLE_STATUS DISTRIBUTION
DIST_PLANESIZE EPILOG EXACT EXCLUSIVE EXIT_ERROR EXIT_IMMEDIATE EXPORT_ENV GPUS_PER_NODE GPUS_PER_TASK GPU_BIND GPU_FREQ GRES_FLAGS HINT
IMMEDIATE KILL_BAD_EXIT LABELIO MPI_TYPE NETWORK NO_KILL NTASKS_PER_CORE NTASKS_PER_SOCKET OOMKILLSTEP OPEN_MODE OVERCOMMIT OVERLAP
PMI_KVS_NO_DUP_KEYS PROFILE PROLOG REMOTE_CWD RESV_PORTS SEND_LIBS SIGNAL SRUN_REDUCE_TASK_EXIT_MSG STEP_GRES STEP_KILLED_MSG_NODE_ID
TASK_EPILOG TASK_PROLOG TEST_EXEC THREADS THREADS_PER_CORE THREAD_SPEC TRES_BIND TRES_PER_TASK UMASK UNBUFFEREDIO WAIT WCKEY WHOLE`)

// bindings are options in a job's script. Inside a step, however, they describe how the present task is bound.
var bindings = strings.Fields(`CPU_BIND MEM_BIND`)

// devices are the variables that list the accelerators of a node that belong to the job.
var devices = strings.Fields(`CUDA_VISIBLE_DEVICES GPU_DEVICE_ORDINAL ROCR_VISIBLE_DEVICES ZE_AFFINITY_MASK`)

// replaced are the variables that options replace. They contain sizes of the whole job, and files that differ between tasks.
var replaced = strings.Fields(`SLURM_HOSTFILE SLURM_NNODES SLURM_NTASKS SLURM_NPROCS SLURM_NTASKS_PER_NODE SLURM_STDINMODE
SLURM_STDOUTMODE SLURM_STDERRMODE SLURM_OPEN_MODE SRUN_INPUT SRUN_OUTPUT SRUN_ERROR`)

// For returns an environment for an srun in the allocation of a job. It removes the variables for the numbers of nodes and tasks and for
// the output, because this srun gets options instead. If the environment describes another job, it also removes the variables that describe
// that job's allocation (see Elsewhere).
func For(job int64, environment []string) []string {
	if !slices.Contains(environment, "SLURM_JOB_ID="+strconv.FormatInt(job, 10)) {
		environment = Elsewhere(environment)
	}
	return slices.DeleteFunc(slices.Clone(environment), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(replaced, name) || v == arbitrary
	})
}

// arbitrary is a setting with which srun uses a list of hosts. The list is for one allocation, and may be outdated.
const arbitrary = "SLURM_DISTRIBUTION=arbitrary"

// Elsewhere returns an environment for an srun in an allocation that the given environment does not describe. It keeps options for every
// srun, and removes nodes, sizes and devices.
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

// isForeign reports whether a variable describes an allocation. That is the case for variables of devices, and for variables SLURM_* that
// are not in `known`.
func isForeign(variable string, known []string) bool {
	name, _, _ := strings.Cut(variable, "=")
	if rest, ours := strings.CutPrefix(name, "SLURM_"); ours {
		return !slices.Contains(known, rest)
	}
	return slices.Contains(devices, name)
}
