#!/bin/bash
#SBATCH --job-name=sweep
#EP 1x10m,4x1h,1x10m
#OAR -n sweep
#OAR -q evolve
#OAR -t ep=1x10m,4x1h,1x10m
# A list of tasks with GNU parallel: on one node, then on four, then on one. The same parallel runs in all three steps. It
# reads its hosts from a file, and reads the file again whenever it has changed. Without the plug-in, submit it with:
#     sbatch -H -N1 -t80 --comment=ep=1x10m,4x1h,1x10m sweep.sh
# Under OAR make it executable, and submit it with:
#     oarsub -S ./sweep.sh
trial=${TRIAL:-4} # number of tasks that are tried on the first node before the job grows
rest=${REST:-8} # when this many tasks are left, the job shrinks
drain=${DRAIN:-600} # seconds for tasks on nodes that leave; unfinished tasks start again elsewhere
if [[ ${OAR_NODEFILE-} ]]; then
	here=$(head -n 1 "$OAR_NODEFILE") reach=oarsh # the program that starts a task on a node
else
	here=$SLURMD_NODENAME reach='accordion agent'
fi
mkdir -p results || exit

# hosts NODE... sets the nodes on which parallel may start tasks from now on, one at a time on each. It replaces the
# file atomically, with a time two seconds later than before, because parallel ignores smaller differences.
hosts() {
	sleep 2
	printf '1/%s\n' "$@" >hosts.new && mv hosts.new hosts
}

# ended prints how many tasks have ended, successful or not. The log has a line for each, and a header.
ended() { wc -l <log; }

running() { kill -0 "$parallel" 2>/dev/null; }

# noticed waits until parallel has read its hosts again. parallel reads them when a task ends, at most every two
# seconds. If all remaining tasks take long, noticed waits only until the second `end`. Then the tasks on the nodes that
# leave are ended, and parallel reads its hosts.
noticed() {
	local before
	sleep 2
	before=$(ended)
	while running && (($(ended) == before && SECONDS < end)); do sleep 0.2; done
}

# busy NODE returns status 0 if a task runs on the node or is being started on it.
busy() { pgrep -P "$parallel" -f " $1 " >/dev/null; }

hosts "$here"
tasks=$(wc -l <tasks) || exit
# If the node of a task has left, the task has failed, and parallel runs it again on another node.
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
