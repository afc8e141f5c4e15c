package srun

import (
	"strings"
	"testing"
)

// script is the environment of a batch script on 22.05 and 24.11, with variables that users set.
var script = strings.Fields(`PATH=/bin HOME=/home/a MYVAR=x SLURMD_NODENAME=n1 SLURM_JOB_ID=42 SLURM_JOBID=42 SLURM_CONF=/etc/slurm.conf
SLURM_CLUSTER_NAME=lab SLURM_JOB_NAME=cfd SLURM_SUBMIT_DIR=/home/a SLURM_NTASKS=4 SLURM_NPROCS=4 SLURM_NTASKS_PER_NODE=2 SLURM_NNODES=2
SLURM_JOB_NUM_NODES=2 SLURM_NODELIST=n[1-2] SLURM_JOB_NODELIST=n[1-2] SLURM_JOB_CPUS_PER_NODE=2(x2) SLURM_MEM_PER_CPU=100 SLURM_GPUS=4
SLURM_GPUS_PER_TASK=1 SLURM_CPUS_PER_TASK=1 SLURM_KILL_BAD_EXIT=1 SLURM_CPU_BIND=cores SLURM_HOSTFILE=/h SLURM_DISTRIBUTION=arbitrary
SLURM_STDOUTMODE=f SRUN_OUTPUT=f SRUN_CPUS_PER_TASK=1 CUDA_VISIBLE_DEVICES=0,1 GPU_DEVICE_ORDINAL=0,1 SLURM_JOB_GPUS=0,1`)

// names returns the names of variables.
func names(variables []string) string {
	var all []string
	for _, v := range variables {
		name, _, _ := strings.Cut(v, "=")
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

func TestEnvironmentForAnotherAllocationOmitsThisOne(t *testing.T) {
	const always = "PATH HOME MYVAR SLURMD_NODENAME"
	for name, c := range map[string]struct {
		got  []string
		want string
	}{
		"of a companion": {For(57, script), always + " SLURM_CONF SLURM_CLUSTER_NAME SLURM_JOB_NAME SLURM_SUBMIT_DIR SLURM_GPUS_PER_TASK " +
			"SLURM_CPUS_PER_TASK SLURM_KILL_BAD_EXIT SLURM_CPU_BIND SRUN_CPUS_PER_TASK"},
		"of the job itself": {For(42, script), always + " SLURM_JOB_ID SLURM_JOBID SLURM_CONF SLURM_CLUSTER_NAME SLURM_JOB_NAME SLURM_SUBMIT_DIR " +
			"SLURM_JOB_NUM_NODES SLURM_NODELIST SLURM_JOB_NODELIST SLURM_JOB_CPUS_PER_NODE SLURM_MEM_PER_CPU SLURM_GPUS SLURM_GPUS_PER_TASK " +
			"SLURM_CPUS_PER_TASK SLURM_KILL_BAD_EXIT SLURM_CPU_BIND SRUN_CPUS_PER_TASK CUDA_VISIBLE_DEVICES GPU_DEVICE_ORDINAL SLURM_JOB_GPUS"},
		"of an agent": {Bare(script), always + " SLURM_CONF SLURM_CLUSTER_NAME SLURM_JOB_NAME SLURM_SUBMIT_DIR"},
		"from inside a step, where the present task is bound": {Elsewhere([]string{"PATH=/bin", "SLURM_STEP_ID=3", "SLURM_CPU_BIND=quiet,mask_cpu:0x1", "SLURM_HINT=x"}),
			"PATH SLURM_HINT"},
	} {
		if got := names(c.got); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestMessagesOfSrunTellWhetherTasksRan(t *testing.T) {
	for text, want := range map[string]string{
		"srun: error: n1: task 0: Exited with exit code 3":                                                                      "",
		"srun: error: Unable to create step for job 57: Invalid job id specified":                                               "Unable to create step for job 57: Invalid job id specified",
		"srun: error: Slurm job 22 has expired|srun: Check SLURM_JOB_ID environment variable. Expired or invalid job 22":        "Slurm job 22 has expired",
		"srun: Job step aborted: Waiting up to 4 seconds for job step to finish.|srun: error: n5: tasks 6-7,9: Terminated":      "",
		"srun: fatal: Failed to parse --cpu-bind= values.":                                                                      "Failed to parse --cpu-bind= values.",
		"srun: error: Task launch for StepId=20.0 failed on node n4: Communication connection failure|srun: error: Application": "Task launch for StepId=20.0 failed on node n4: Communication connection failure",
		"a program's own words": "",
	} {
		var s Messages
		for line := range strings.SplitSeq(text, "|") {
			s.Add(line)
		}
		if got := s.StartError(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
