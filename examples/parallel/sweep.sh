#!/bin/bash
#SBATCH --job-name=sweep
#EP 1x10m,4x1h,1x10m
#OAR -n sweep
#OAR -q evolve
#OAR -t ep=1x10m,4x1h,1x10m
# A list of tasks by GNU parallel, on one node, then on four, then on one: one parallel for all three steps. Its hosts stand in a file,
# which it reads again when that has changed. Without the plug-in, submit it with:
#     sbatch -H -N1 -t80 --comment=ep=1x10m,4x1h,1x10m sweep.sh
# Under OAR make it executable, and submit it with:
#     oarsub -S ./sweep.sh
trial=${TRIAL:-4}   # so many tasks are tried on the first node; then the job grows
rest=${REST:-8}     # when so few are left, it shrinks: they would not fill its nodes for long
drain=${DRAIN:-600} # seconds for tasks on nodes that are to go; what is not done by then is begun again elsewhere
if [[ ${OAR_NODEFILE-} ]]; then
	here=$(head -n 1 "$OAR_NODEFILE") reach=oarsh # by which a task comes to a node
else
	here=$SLURMD_NODENAME reach='accordion agent'
fi
mkdir -p results || exit

# hosts NODE...: on which parallel may begin tasks from now on, one at a time on each. The file is replaced in one piece, and is two
# seconds younger than the last one: parallel takes no notice of less.
hosts() {
	sleep 2
	printf '1/%s\n' "$@" >hosts.new && mv hosts.new hosts
}

# ended is how many tasks have ended, well or not: the log has a line for each, and one above.
ended() { wc -l <log; }

running() { kill -0 "$parallel" 2>/dev/null; }

# noticed waits until parallel has read its hosts again: when a task ends, and two seconds after it did so last. Where all that are left
# take long, none ends: then until the second `end`. Parallel reads its hosts when the tasks on nodes that go end with these.
noticed() {
	local before
	sleep 2
	before=$(ended)
	while running && (($(ended) == before && SECONDS < end)); do sleep 0.2; done
}

# busy NODE: a task is there, or on its way.
busy() { pgrep -P "$parallel" -f " $1 " >/dev/null; }

hosts "$here"
tasks=$(wc -l <tasks) || exit
# A task whose node has gone has failed, and is tried again on another one.
parallel --ssh "$reach" --sshloginfile hosts --workdir "$PWD" --retries 5 --joblog log --arg-file tasks "./task {#} {}" &
parallel=$!

while running && (($(find results -name '*.out' | wc -l) < trial)); do sleep 0.5; done
eval "$(accordion step)" || exit # 1 node becomes 4
mapfile -t nodes <"$ACCORDION_HOSTFILE"
hosts "${nodes[@]}"

while running && (($(find results -name '*.out' | wc -l) < tasks - rest)); do sleep 0.5; done
hosts "$here"
end=$((SECONDS + drain))
noticed
for node in "${nodes[@]}"; do
	[[ $node != "$here" ]] || continue
	while busy "$node" && ((SECONDS < end)); do sleep 0.5; done
done
eval "$(accordion step --keep "$here")" || exit # 4 become 1

wait "$parallel" || exit
sort -V results/*.out
