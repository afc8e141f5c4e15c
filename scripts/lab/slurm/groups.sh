# shellcheck shell=bash disable=SC2154
# The lab's control groups. Sourced by slurm-lab.
#
# $lab/group links to a group (of version 2) with every process of the lab. Each node has its own group below it.
# No process leaves its group. Even a process that loses its environment, files and parents belongs to the lab and
# ends with it.
#
# $lab/cgroup is the directory that Slurm uses as the machine's control groups (CgroupMountpoint). The lab needs
# its own directory, because every lab has a node n1 and Slurm names its groups after the node. On a machine with
# version 1 it has a link for each controller, to a group of the lab. With version 2 it is empty, and each slurmd
# sees only the group of its node there.

# The controllers that bind cores, memory and devices, and with which Slurm counts and ends a job's processes, in
# versions 1 and 2.
slurm_controllers=(cpuset memory devices freezer cpuacct)
unified_controllers='+cpuset +cpu +memory +pids'

# make_groups makes the lab's group and, for a site, Slurm's groups, if the machine permits it. It keeps existing groups.
make_groups() {
	local name=accordion-lab-$port.$BASHPID.$RANDOM link
	for link in "$lab"/group "$lab"/cgroup/*; do
		# The group no longer exists if the machine has restarted since.
		[[ ! -L $link ]] || mkdir -p "$(readlink "$link")" || die "the control group of $link cannot be made again: 'slurm-lab down' first"
	done
	[[ -L $lab/group ]] || new_group cgroup2 "$name" "$lab/group" || true
	[[ $kind == site ]] || return 0
	if [[ -L $lab/cgroup/cpuset ]]; then
		cpuset_of_parent "$lab/cgroup/cpuset"
	elif [[ -d $lab/cgroup ]]; then
		make_unified_groups
	else
		mkdir "$lab/cgroup"
		make_slurm_groups "$name" || remove_groups "$lab"/cgroup/*
		mkdir -p "$lab/cgroup"
		binds || make_unified_groups || rmdir "$lab/cgroup"
	fi
}

make_slurm_groups() {
	local controller
	for controller in "${slurm_controllers[@]}"; do
		new_group "$controller" "$1" "$lab/cgroup/$controller" || return 1
	done
	cpuset_of_parent "$lab/cgroup/cpuset" || return 1
	for controller in "${slurm_controllers[@]}"; do
		# This tests whether a process may be moved into the group, with a separate process that ends
		# immediately.
		(echo "$BASHPID" >"$lab/cgroup/$controller/cgroup.procs") 2>/dev/null || return 1
	done
}

make_unified_groups() {
	echo "0::/" >"$lab/etc/top" # contents of /proc/1/cgroup at the top
	knows_unified && has_group && has_controllers "$lab/group/.." && has_controllers "$lab/group"
}

# has_controllers GROUP gives the controllers of version 2 to the groups below GROUP. It returns status 1 if it
# cannot.
has_controllers() { echo "$unified_controllers" >"$1/cgroup.subtree_control"; } 2>/dev/null

# cpuset_of_parent GROUP copies the cores and memory nodes of the parent, because a new cpuset has none.
cpuset_of_parent() {
	local file
	for file in cpuset.cpus cpuset.mems; do
		cat "$1/../$file" >"$1/$file" || return 1
	done 2>/dev/null
}

# thaw_groups lets suspended jobs continue, because processes in a frozen group of version 1 do not die.
thaw_groups() {
	local state
	[[ -d $lab/cgroup/freezer ]] || return 0
	while read -r state; do
		echo THAWED >"$state" || true # the group may no longer exist
	done 2>/dev/null < <(find "$lab/cgroup/freezer/" -mindepth 2 -name freezer.state)
}

# new_group HIERARCHY NAME LINK
new_group() {
	local mount
	mount=$(hierarchy "$1")
	[[ $mount ]] && mkdir "$mount/$2" 2>/dev/null && ln -s "$mount/$2" "$3"
}

# hierarchy NAME prints the mount point of the controller of version 1, or of version 2 ("cgroup2"). It prints
# nothing if that is not mounted.
hierarchy() {
	awk -v want="$1" '{
		split($0, half, " - "); split(half[2], of, " "); n = split(of[3], option, ",")
		found = of[1] == "cgroup2" && want == "cgroup2"
		for (i = 1; i <= n && of[1] == "cgroup"; i++) found = found || option[i] == want
		if (found) { print $5; exit }
	}' /proc/self/mountinfo
}

# cgroup_version prints the version with which Slurm binds, or nothing if it cannot bind.
cgroup_version() {
	if [[ -L $lab/cgroup/cpuset ]]; then
		echo 1
	elif [[ -d $lab/cgroup ]] && grep -qs cpuset "$lab/group/cgroup.subtree_control"; then
		echo 2
	fi
}

# binds returns status 0 if the lab's jobs can only use the cores, memory and devices of their allocation.
binds() { [[ $(cgroup_version) ]]; }

# has_group returns status 0 if all of the lab's processes are in a group.
has_group() { [[ -L $lab/group && -d $lab/group ]]; }

# join_group DAEMON moves this process, which becomes a daemon, to a group. In version 2 a group has either processes
# or groups.
join_group() {
	local group=$lab/group/daemons
	has_group || return 0
	[[ ! $1 =~ ^n[1-9] ]] || group=$lab/group/$1
	[[ ! -d $group/start ]] || group+=/start
	mkdir -p "$group"
	echo "$BASHPID" >"$group/cgroup.procs"
}

# node_view NODE sets the array `view` to the words before slurmd. In version 2 slurmd must see its group as the
# top. Otherwise it would make its steps' groups in the place where other labs make theirs. When a step ends, it
# first moves its processes to the top, which is permitted only if the top is real. Newer releases assume that the
# group of process 1 is the top.
node_view() {
	local process
	view=()
	[[ $(cgroup_version) == 2 ]] || return 0
	process=$(processes_in "$lab/group/$1" | head -n 1)
	if [[ $process ]]; then # the node's steps outlived its slurmd
		view=(nsenter --target "$process" --mount --cgroup --)
		return
	fi
	# shellcheck disable=SC2016
	view=(unshare --mount --cgroup /bin/sh -c '
		mount -t cgroup2 cgroup2 "$0" && mkdir "$0/start" "$0/system.slice" && echo $$ >"$0/start/cgroup.procs" || exit
		for group in "$0" "$0/system.slice"; do echo "$1" >"$group/cgroup.subtree_control" || exit; done
		mount --bind "$0/start/cgroup.procs" "$0/cgroup.procs" && mount --bind "$2" /proc/1/cgroup || exit
		shift 2 && exec "$@"' "$lab/cgroup" "$unified_controllers" "$lab/etc/top")
}

# processes_in GROUP... prints the processes in the group and in the groups below it. It prints nothing if the
# group does not exist.
processes_in() { find -L "$@" -name cgroup.procs -exec cat {} + 2>/dev/null | sort -un || true; }

# remove_groups LINK... removes groups whose processes have ended, all groups below these, and the links to them.
remove_groups() {
	local link
	for link; do
		[[ -L $link ]] || continue
		within 10 removed "$(readlink "$link")" ||
			die "the control group $(readlink "$link") cannot be removed: it has the processes $(processes_in "$link" | paste -sd ' ')"
		rm -f "$link"
	done
	rmdir "$lab/cgroup" 2>/dev/null || true
}

# removed GROUP tries to remove a group, and returns status 0 if nothing is left.
removed() {
	[[ ! -d $1 ]] || find "$1" -depth -type d -exec rmdir {} + 2>/dev/null
	[[ ! -d $1 ]]
}
