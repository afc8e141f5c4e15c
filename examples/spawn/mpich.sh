#!/bin/bash
#SBATCH --job-name=grow
#EP 1x10m,3x1h,1x10m
# Tasks with MPICH. The script never asks for its next step: the job is resized at the planned times, and the program reads
# in the hosts file which nodes arrive and which are about to leave. Without the plug-in, submit it with:
#     sbatch -H -N1 -t80 --comment=ep=1x10m,3x1h,1x10m mpich.sh
trap : URG # the program reads the hosts file itself
until hosts=$(accordion nodes --file 2>/dev/null); do sleep 1; done # the sidecar writes it some seconds after the start

# `accordion agent` starts the workers, in steps of the job, also on nodes that mpiexec does not know. HYDRA_ENV:
# each process has the environment of its own node.
export HYDRA_ENV=none HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=$PWD/agent
mpiexec.hydra -hosts "$SLURMD_NODENAME" -n 1 "$PWD/grow" "${TASKS:-2000}" "${SECONDS_EACH:-5}" "$hosts"
