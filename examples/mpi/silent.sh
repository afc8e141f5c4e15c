#!/bin/bash
#SBATCH --job-name=heat
#EP 2x20s,4x20s,1x20s
# The same without a word to the sidecar: it resizes the job at the planned seconds, and the program sees by the hosts
# file that its nodes change. It then ends with status 75, and is started again on the nodes of that file.
# Without the plug-in, submit it with:  sbatch -H -N2 -t2 --comment=ep=2x20s,4x20s,1x20s silent.sh
cells=${CELLS:-100000} iterations=${ITERATIONS:-1000000}
hosts=/tmp/accordion-$(id -u)/$SLURM_CLUSTER_NAME-$SLURM_JOB_ID.hosts
tasks=${SLURM_NTASKS_PER_NODE:-1}
trap : URG # the program looks for itself; without this line the signal would be ignored all the same

until [ -e "$hosts" ]; do sleep 1; done # the sidecar writes it some seconds after the start

# What Slurm told the script at its start is of the first nodes: srun must not believe it any more.
unset SLURM_NNODES SLURM_JOB_NUM_NODES SLURM_NODELIST SLURM_JOB_NODELIST SLURM_TASKS_PER_NODE SLURM_JOB_CPUS_PER_NODE \
	SLURM_NTASKS SLURM_NPROCS

status=75
while [ $status -eq 75 ]; do
	nodes=$(grep -v '^#' "$hosts" | paste -sd,)
	count=$(grep -vc '^#' "$hosts")
	srun --mpi=pmi2 --nodes="$count" --ntasks=$((count * tasks)) --nodelist="$nodes" ./heat "$cells" "$iterations" rod "$hosts"
	status=$?
done
exit $status
