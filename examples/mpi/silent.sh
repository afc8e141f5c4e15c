#!/bin/bash
#SBATCH --job-name=heat
#EP 2x20s,4x20s,1x20s
# The MPI program of steps.sh, in a job that never asks for its next step. The sidecar resizes it at the planned times.
# When the hosts file shows that the nodes change, the program exits with status 75 and is started again on the nodes of
# that file.
# Without the plug-in, submit it with:  sbatch -H -N2 -t2 --comment=ep=2x20s,4x20s,1x20s silent.sh
cells=${CELLS:-100000} iterations=${ITERATIONS:-1000000}
tasks=${SLURM_NTASKS_PER_NODE:-1}
trap : URG # the program reads the hosts file itself; without this line the signal would be ignored too
export HYDRA_ENV=none # each rank has the environment of its own node, not that of the script

until hosts=$(accordion nodes --file 2>/dev/null); do sleep 1; done # the sidecar writes it some seconds after the start

status=75
while [ $status -eq 75 ]; do
	eval "$(accordion nodes)" || exit # Slurm's variables in the script describe the first nodes
	mpiexec.hydra -n $((ACCORDION_NNODES * tasks)) -ppn "$tasks" ./heat "$cells" "$iterations" rod "$hosts" "$ACCORDION_GENERATION"
	status=$?
done
exit $status
