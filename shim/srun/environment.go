package srun

import (
	"slices"
	"strconv"
	"strings"
)

// told is what a step in another allocation may know of SLURM_*: where Slurm is, who submitted the job, and what it is called. The
// others speak of the job's own allocation, and would make srun ask for its nodes and sizes in the other.
var told = strings.Fields(`CONF CLUSTER_NAME WORKING_CLUSTER JOB_NAME SUBMIT_DIR SUBMIT_HOST RESTART_COUNT ARRAY_JOB_ID ARRAY_TASK_ID
ARRAY_TASK_COUNT ARRAY_TASK_MIN ARRAY_TASK_MAX ARRAY_TASK_STEP`)

// wishes are what a user, or the job's own options, may ask of every srun, for a node or a task of any allocation.
var wishes = strings.Fields(`ACCTG_FREQ COMPRESS CPUS_PER_GPU CPUS_PER_TASK CPU_FREQ_REQ DEBUG DEBUG_FLAGS DISABLE_STATUS DISTRIBUTION
DIST_PLANESIZE EPILOG EXACT EXCLUSIVE EXIT_ERROR EXIT_IMMEDIATE EXPORT_ENV GPUS_PER_NODE GPUS_PER_TASK GPU_BIND GPU_FREQ GRES_FLAGS HINT
IMMEDIATE KILL_BAD_EXIT LABELIO MPI_TYPE NETWORK NO_KILL NTASKS_PER_CORE NTASKS_PER_SOCKET OOMKILLSTEP OPEN_MODE OVERCOMMIT OVERLAP
PMI_KVS_NO_DUP_KEYS PROFILE PROLOG REMOTE_CWD RESV_PORTS SEND_LIBS SIGNAL SRUN_REDUCE_TASK_EXIT_MSG STEP_GRES STEP_KILLED_MSG_NODE_ID
TASK_EPILOG TASK_PROLOG TEST_EXEC THREADS THREADS_PER_CORE THREAD_SPEC TRES_BIND TRES_PER_TASK UMASK UNBUFFEREDIO WAIT WCKEY WHOLE`)

// bindings are wishes in a job's script; inside a step they say how the present task is bound.
var bindings = strings.Fields(`CPU_BIND MEM_BIND`)

// devices say which of a node's accelerators are the job's.
var devices = strings.Fields(`CUDA_VISIBLE_DEVICES GPU_DEVICE_ORDINAL ROCR_VISIBLE_DEVICES ZE_AFFINITY_MASK`)

// replaced are the variables whose place options take: the sizes of the whole job, and files that are not the same for all tasks.
var replaced = strings.Fields(`SLURM_HOSTFILE SLURM_NNODES SLURM_NTASKS SLURM_NPROCS SLURM_NTASKS_PER_NODE SLURM_STDINMODE
SLURM_STDOUTMODE SLURM_STDERRMODE SLURM_OPEN_MODE SRUN_INPUT SRUN_OUTPUT SRUN_ERROR`)

// For returns an environment for an srun in the allocation of a job. Options say how many nodes and tasks this srun has and where its
// output goes, so For removes the variables for that. For another job than the one that the environment describes, it also removes
// what describes the allocation (Elsewhere).
func For(job int64, environment []string) []string {
	if !slices.Contains(environment, "SLURM_JOB_ID="+strconv.FormatInt(job, 10)) {
		environment = Elsewhere(environment)
	}
	return slices.DeleteFunc(slices.Clone(environment), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(replaced, name) || v == arbitrary
	})
}

// arbitrary goes by a list of hosts that is of one allocation, or not of the present nodes.
const arbitrary = "SLURM_DISTRIBUTION=arbitrary"

// Elsewhere is an environment for srun in an allocation that is not the one which the environment describes: with what was asked of
// every srun, and with nothing of nodes, sizes and devices.
func Elsewhere(environment []string) []string {
	known := slices.Concat(told, wishes)
	if !slices.ContainsFunc(environment, func(v string) bool { return strings.HasPrefix(v, "SLURM_STEP_ID=") }) {
		known = append(known, bindings...)
	}
	return slices.DeleteFunc(slices.Clone(environment), func(v string) bool {
		return v == arbitrary || isForeign(v, known)
	})
}

// Bare is Elsewhere for a step that nobody asked anything of: no SRUN_* either, which are options.
func Bare(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(v string) bool {
		return strings.HasPrefix(v, "SRUN_") || isForeign(v, told)
	})
}

// isForeign says whether a variable speaks of another allocation: one of SLURM_* that is not known, or of its devices.
func isForeign(variable string, known []string) bool {
	name, _, _ := strings.Cut(variable, "=")
	if rest, ours := strings.CutPrefix(name, "SLURM_"); ours {
		return !slices.Contains(known, rest)
	}
	return slices.Contains(devices, name)
}
