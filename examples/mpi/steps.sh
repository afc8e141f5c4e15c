#!/bin/bash
#SBATCH --job-name=heat
#EP 2x20s,4x20s,1x20s
# An MPI program in three steps. At each boundary it has written its state; it is started again on the next step's nodes.
# Without the plug-in, submit it with:  sbatch -H -N2 -t2 --comment=ep=2x20s,4x20s,1x20s steps.sh
cells=${CELLS:-100000} iterations=${ITERATIONS:-1000}

srun --mpi=pmi2 ./heat "$cells" "$iterations" rod || exit
eval "$(accordion step)" || exit # 2 nodes become 4
srun --mpi=pmi2 ./heat "$cells" $((2 * iterations)) rod || exit
eval "$(accordion step)" || exit # 4 become 1
srun --mpi=pmi2 ./heat "$cells" $((3 * iterations)) rod
