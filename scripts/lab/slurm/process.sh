# shellcheck shell=bash disable=SC2154
# The lab's processes: which belong to it, and how they are started and ended. Sourced by slurm-lab.
#
# Every process of a lab is in the lab's group (groups.sh), except clients that run outside. If there are no
# groups, every process has ACCORDION_LAB=<the lab's directory> in its environment. Jobs inherit it from the client
# that submitted them. Slurm's daemons overwrite their environment when they change their title, but they keep a
# file of the lab open.

# pid_in FILE prints the process number in FILE if the process lives. Otherwise it returns status 1. Zombies count
# as dead, because an idle init reaps them late.
pid_in() {
	local pid
	pid=$(cat "$1" 2>/dev/null) || return 1
	alive "$pid" && echo "$pid"
}

alive() {
	local state tasks
	[[ $1 =~ ^[0-9]+$ ]] || return 1
	state=$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) || return 1
	case $state in
	Z* | X*) tasks=("/proc/$1/task/"*) && ((${#tasks[@]} > 1)) ;; # the other threads of a zombie may still run, and hold its files and ports until they end
	*) [[ $state ]] ;;
	esac
}

# running NAME returns status 0 if the daemon lives and belongs to this lab (process numbers are reused).
running() {
	local pid
	pid=$(pid_in "$lab/pid/$1.pid") && is_ours "$pid"
}

# A process of another namespace may look like a process of this lab, if it belongs to a lab whose directory has
# the same name in that namespace.
is_here() { [[ /proc/$1/ns/pid -ef /proc/self/ns/pid ]]; }

is_ours() {
	is_here "$1" || return 1
	grep -qzxF "ACCORDION_LAB=$lab" "/proc/$1/environ" 2>/dev/null ||
		[[ $(find "/proc/$1/fd" "/proc/$1/cwd" -lname "$lab/*" -print -quit 2>/dev/null) ]]
}

# our_processes prints every living process of this lab except this script and its ancestors.
our_processes() {
	{
		processes_in "$lab/group" "$lab/cgroup"
		marked_processes
	} | sort -un | { grep -vxF "$(ancestors)" || true; } | only_alive
}

# marked_processes prints the lab's processes that can be identified without a group. It is no failure if processes
# end meanwhile.
marked_processes() {
	local pid
	{
		grep -lzxF "ACCORDION_LAB=$lab" /proc/[0-9]*/environ 2>/dev/null || true
		find /proc/[0-9]*/fd /proc/[0-9]*/cwd -lname "$lab/*" 2>/dev/null || true
	} | cut -d/ -f3 | sort -un | while read -r pid; do
		if is_here "$pid"; then echo "$pid"; fi
	done
}

only_alive() {
	local pid
	while read -r pid; do
		if alive "$pid"; then echo "$pid"; fi
	done
}

ancestors() {
	local pid=$BASHPID
	while ((pid > 1)); do
		echo "$pid"
		pid=$(sed 's/.*) [A-Z] //' "/proc/$pid/stat" 2>/dev/null | cut -d' ' -f1)
		[[ $pid ]] || return 0
	done
}

# stop NAME [SIGNAL] ends the daemon. If the signal has no effect within 10 seconds, stop sends KILL.
stop() {
	local pid
	if running "$1"; then
		pid=$(cat "$lab/pid/$1.pid")
		kill "-${2:-TERM}" "$pid" 2>/dev/null || true
		within 10 dead "$pid" || {
			kill -KILL "$pid" 2>/dev/null || true
			within 10 dead "$pid" || die "$1 (process $pid) cannot be ended"
		}
	fi
	rm -f "$lab/pid/$1.pid"
}

dead() { ! alive "$1"; }

# kill_processes ends all of the lab's processes: daemons, step daemons, jobs, and clients that still wait.
kill_processes() {
	local pids
	thaw_groups
	for _ in {1..50}; do
		mapfile -t pids < <(our_processes)
		((${#pids[@]})) || return 0
		kill -KILL "${pids[@]}" 2>/dev/null || true
		pause
	done
	die "processes of $lab cannot be ended: ${pids[*]}"
}

# failed NAME WHAT reports what went wrong with a daemon, with the end of its log.
failed() {
	{
		echo "slurm-lab: $1 $2; the end of $lab/log/$1.log:"
		tail -n 8 "$lab/log/$1.log" 2>/dev/null | sed 's/^/  /'
	} >&2
	exit 1
}

# tool COMMAND... runs a client program of this lab as root with a deadline: 10 seconds or $patience.
tool() { SLURM_CONF=$lab/etc/slurm.conf timeout -k 1 "${patience:-10}" "$@" 8<&-; }
