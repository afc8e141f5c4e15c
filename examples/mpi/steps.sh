#!/bin/bash
#SBATCH --job-name=heat
#EP 2x20s,4x20s,1x20s
# An MPI program in three steps. It writes its state before each boundary, and is started again on the nodes of the
# next step. MPICH's mpiexec reaches all of them, however the job grows. Without the plug-in, submit it with:
#     sbatch -H -N2 -t2 --comment=ep=2x20s,4x20s,1x20s steps.sh
cells=${CELLS:-100000} iterations=${ITERATIONS:-1000}
tasks=${SLURM_NTASKS_PER_NODE:-1}
export HYDRA_ENV=none # each rank has the environment of its own node, not that of the script

# heat ITERATIONS runs on all nodes that the job has now.
heat() {
	mpiexec.hydra -n $((${ACCORDION_NNODES:-$SLURM_NNODES} * tasks)) -ppn "$tasks" ./heat "$cells" "$1" rod
}

heat "$iterations" || exit
eval "$(accordion step)" || exit # 2 nodes become 4
heat $((2 * iterations)) || exit
eval "$(accordion step)" || exit # 4 become 1
heat $((3 * iterations))
