#!/bin/bash
#SBATCH --job-name=grow
#EP 1x10m,3x1h,1x10m
# Tasks by MPICH. The script never asks for its steps: it is resized at the planned seconds, and the program sees by the hosts file what
# comes and what is about to go. Without the plug-in, submit it with:  sbatch -H -N1 -t80 --comment=ep=1x10m,3x1h,1x10m mpich.sh
trap : URG # the program looks for itself
until hosts=$(accordion nodes --file 2>/dev/null); do sleep 1; done # the sidecar writes it some seconds after the start

# Workers are started by `accordion agent`, in steps of the job, also on nodes that mpiexec has never heard of. HYDRA_ENV: each process has
# the environment of its own node.
export HYDRA_ENV=none HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=$PWD/agent
mpiexec.hydra -hosts "$SLURMD_NODENAME" -n 1 "$PWD/grow" "${TASKS:-2000}" "${SECONDS_EACH:-5}" "$hosts"
