# shellcheck shell=bash disable=SC2154
# Slurm's daemons, in the order in which they must be started. Starting a running daemon does nothing. Sourced by
# slurm-lab.

# daemon NAME COMMAND... starts a daemon without our terminal, locks or files. Its output goes to its log.
daemon() {
	local name=$1
	shift
	(
		join_group "$name"
		exec env ACCORDION_LAB="$lab" SLURM_CONF="$lab/etc/slurm.conf" setsid "$@"
	) >>"$lab/log/$name.log" 2>&1 </dev/null 7<&- 8<&- || failed "$name" "did not start"
}

start_munged() {
	running munged && return
	if [[ ! -f $lab/munge/key ]]; then
		(umask 077 && head -c 128 /dev/urandom >"$lab/munge/key")
		chown munge: "$lab/munge/key"
	fi
	daemon munged setpriv --reuid munge --regid munge --clear-groups -- /usr/sbin/munged --force \
		--key-file="$lab/munge/key" --socket="$lab/munge/socket" --seed-file="$lab/munge/seed" \
		--pid-file="$lab/munge/munged.pid" --log-file="$lab/munge/munged.log"
	cat "$lab/munge/munged.pid" >"$lab/pid/munged.pid"
	within 20 munge_answers || failed munged "does not answer"
}

munge_answers() { munge -S "$lab/munge/socket" -n -o /dev/null 2>/dev/null; }

start_slurmctld() {
	running slurmctld && return
	# slurmctld cannot start while the script process (slurmscriptd) of a killed slurmctld still holds the port.
	local finder
	plugin_finder
	daemon slurmctld "${finder[@]}" /usr/sbin/slurmctld -f "$lab/etc/slurm.conf"
	within 60 slurmctld_answers || failed slurmctld "does not answer"
}

slurmctld_answers() { [[ $(tool scontrol ping 2>/dev/null) == *" is UP"* ]]; }

stop_slurmctld() {
	case ${1:-} in
	'') stop slurmctld TERM ;;
	--kill) stop slurmctld KILL ;;
	*) wrong "ctl-stop: $1 is not known" ;;
	esac
}

node_count() { setting nodes; }

start_all_nodes() {
	local names
	mapfile -t names < <(seq -f 'n%.0f' "$1")
	start_nodes "${names[@]}"
}

# start_nodes NAME... starts the slurmds of all these nodes in parallel. The command slurmd returns when the daemon
# has read its configuration.
start_nodes() {
	(($#)) || wrong "node-start: which node?"
	local name view starting=()
	for name; do
		known_node "$name"
		running "$name" && continue
		mkdir -p "$lab/spool/$name"
		node_view "$name"
		daemon "$name" "${view[@]}" /usr/sbin/slurmd ${slurmd_options:+"$slurmd_options"} -N "$name" -f "$lab/etc/slurm.conf" &
		starting+=($!)
	done
	for name in "${starting[@]}"; do
		wait "$name" || exit 1
	done
}

known_node() {
	[[ $1 =~ ^n[1-9][0-9]{0,3}$ && ${1#n} -le $(node_count) ]] || die "$1 is no node of this lab: they are n1 to n$(node_count)"
}

# kill_node NAME kills everything on a node without warning, as a power failure does: slurmd, step daemons, and
# the jobs' tasks.
kill_node() {
	(($# == 1)) || wrong "node-kill: want one node"
	known_node "$1"
	local pids
	for _ in {1..50}; do
		mapfile -t pids < <(node_processes "$1")
		((${#pids[@]})) || break
		kill -KILL "${pids[@]}" 2>/dev/null || true
		pause
	done
	# The node's control groups are removed, too.
	within 10 removed_node "$1" || die "the control groups of $1 cannot be removed"
	rm -f "$lab/pid/$1.pid"
}

removed_node() {
	local group
	for group in "$lab"/group/"$1" "$lab"/cgroup/*/slurm_"$1"; do
		removed "$group" || return 1
	done
}

# node_processes NAME prints the processes in the node's group. If there are no groups, it prints the processes
# that have the node's log open (slurmd, slurmstepd), and the processes that the node's slurmstepd started.
node_processes() {
	local pid
	if has_group; then
		processes_in "$lab/group/$1" | only_alive
		return
	fi
	{
		find /proc/[0-9]*/fd -lname "$lab/log/$1.log" 2>/dev/null | cut -d/ -f3 || true
		for pid in $(marked_processes); do
			if grep -qzxF "SLURMD_NODENAME=$1" "/proc/$pid/environ" 2>/dev/null; then echo "$pid"; fi
		done
	} | sort -un | only_alive
}

# wait_idle NODES waits until all nodes have registered and are idle. In a lab with jobs the nodes may also be in use.
wait_idle() {
	within 120 nodes_up "$1" || failed slurmctld "does not see all nodes: $(tool sinfo -h -p shared -o '%T:%N' 2>&1)"
}

nodes_up() {
	local up
	up=$(tool sinfo -h -p shared -N -o %T:%N 2>/dev/null | grep -cE '^(idle|allocated|mixed|completing|reserved|planned)[^*]*:') || true
	((up >= $1))
}

status() {
	local name state bad=0 names
	mapfile -t names < <(seq -f 'n%.0f' "$(node_count)")
	printf '%-10s %s\n' Slurm "$(setting release), $(described)"
	for name in munged mariadbd slurmdbd slurmctld "${names[@]}" accordion; do
		if running "$name"; then
			state="runs ($(cat "$lab/pid/$name.pid"))"
		elif [[ $name == accordion && ! -e $lab/pid/accordion.pid ]]; then
			state="not started ('slurm-lab serve')"
		else
			state="does not run"
			bad=1
		fi
		printf '%-10s %s\n' "$name" "$state"
	done
	return "$bad"
}

# described prints what kind of lab this is, in a few words.
described() {
	if [[ $(setting kind) == plain ]]; then
		echo "plain: nothing is bound"
	elif [[ $(setting binds) == yes ]]; then
		echo "as a site: cores, memory and devices are bound"
	else
		echo "as a site, but $(setting without)"
	fi
}

# build_accordion puts the program into the lab's PATH. If the world's libraries are at least as new as the
# machine's, the program was built outside. Otherwise build_accordion builds it inside.
build_accordion() {
	if ! in_world; then
		put_program "$lab/bin/accordion"
	elif [[ ! -e $lab/world/built ]]; then
		go -C "$repo" build -o "$lab/bin/accordion" ./cmd/accordion
	fi >"$lab/log/build.log" 2>&1 8<&-
}

# build_spank builds the SPANK plug-in for the installed Slurm. Labs copy a plug-in that is kept for these sources
# and this release.
build_spank() {
	local kept
	[[ -s $lab/etc/plugstack.conf && ! -e $lab/bin/accordion.so ]] || return 0
	kept=$(go env GOCACHE)/accordion-labs/spank-$release-$(cat "$repo"/slurm/spank/* "$here/build-spank" | sha256sum | cut -c 1-16).so || return
	if [[ ! -e $kept ]]; then
		mkdir -p "${kept%/*}"
		CFLAGS='' "$here/build-spank" "$kept.$BASHPID" 8<&- && mv -f "$kept.$BASHPID" "$kept" || return
	fi
	cp "$kept" "$lab/bin/accordion.so.new" && mv -f "$lab/bin/accordion.so.new" "$lab/bin/accordion.so"
}
