#!/bin/bash
#SBATCH --job-name=dask
#EP 1x10m,3x1h,1x10m
#OAR -n dask
#OAR -q evolve
#OAR -t ep=1x10m,3x1h,1x10m
# A Dask cluster that follows its job: blocks.py calls `accordion step` through accordion_dask.py. Without the
# plug-in, submit it with:
#     sbatch -H -N1 -t80 --comment=ep=1x10m,3x1h,1x10m job.sh
# Under OAR make it executable, and submit it with:
#     oarsub -S ./job.sh
export DASK_LOGGING__DISTRIBUTED=warning # Dask logs a lot
python3 blocks.py "${BLOCKS:-12}"
