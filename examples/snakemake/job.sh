#!/bin/bash
#SBATCH --job-name=pipeline
#EP 1x10m,3x1h,1x10m
#OAR -n pipeline
#OAR -q evolve
#OAR -t ep=1x10m,3x1h,1x10m
# A Snakemake pipeline in three stages in one job that grows and shrinks between them. Without the plug-in, submit it
# with:
#     sbatch -H -N1 -t80 --comment=ep=1x10m,3x1h,1x10m job.sh
# Under OAR make it executable, and submit it with:
#     oarsub -S ./job.sh
here=$SLURMD_NODENAME
[[ ! ${OAR_NODEFILE-} ]] || here=$(head -n 1 "$OAR_NODEFILE")
parts=${PARTS:-20} seconds=${SECONDS_EACH:-300}

# stage TARGET builds the target, with as many jobs at a time as there are nodes.
stage() {
	snakemake --jobs "${ACCORDION_NNODES:-1}" --cluster-sync ./node --quiet --config parts="$parts" seconds="$seconds" -- "$1"
}

stage cutting || exit
eval "$(accordion step)" || exit # 1 node becomes 3
stage summing || exit
eval "$(accordion step --keep "$here")" || exit # 3 become 1
stage all || exit
cat places
echo "the sum is $(cat total)"
