#!/bin/bash
#OAR -n heat
#OAR -q evolve
#OAR -t ep=2x20s,4x20s,1x20s
# The MPI program of steps.sh under OAR: MPICH's mpiexec reaches the nodes with oarsh, and each rank is bound like
# the job.
# Make it executable, and submit it with:  oarsub -S ./oar.sh
cells=${CELLS:-100000} iterations=${ITERATIONS:-1000}

start() { mpiexec.hydra -launcher ssh -launcher-exec oarsh -f "$OAR_NODEFILE" -n "$(wc -l <"$OAR_NODEFILE")" ./heat "$cells" "$1" rod; }

start "$iterations" || exit
eval "$(accordion step)" || exit # 2 nodes become 4
start $((2 * iterations)) || exit
eval "$(accordion step)" || exit # 4 become 1
start $((3 * iterations))
