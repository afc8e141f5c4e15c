# shellcheck shell=bash disable=SC2154
# The lab's control groups. Sourced by slurm-lab.
#
# $lab/group leads to a group (of version 2) that holds every process of the lab, a node's in a group of its own below it. No process
# leaves its group: one that forgets its environment, its files and its parents is still the lab's, and ends with it.
#
# $lab/cgroup is what Slurm takes for the machine's controllers (CgroupMountpoint). Each leads to a group of the lab's own, since every
# lab has a node n1, and Slurm names its groups by the node.

# What cores, memory and devices are bound by, and what Slurm counts and ends a job's processes with.
slurm_controllers=(cpuset memory devices freezer cpuacct)

# make_groups: the first, and for a site those of Slurm, where the machine lets us. Those that are there already are kept.
make_groups() {
	local name=accordion-lab-$port.$BASHPID.$RANDOM link
	for link in "$lab"/group "$lab"/cgroup/*; do
		# The machine was started again since.
		[[ ! -L $link ]] || mkdir -p "$(readlink "$link")" || die "the control group of $link cannot be made again: 'slurm-lab down' first"
	done
	[[ -L $lab/group ]] || new_group cgroup2 "$name" "$lab/group" || true
	if [[ $kind == site && ! -d $lab/cgroup ]]; then
		make_slurm_groups "$name" || remove_groups "$lab"/cgroup/*
	fi
	[[ ! -L $lab/cgroup/cpuset ]] || cpuset_of_parent "$lab/cgroup/cpuset"
}

make_slurm_groups() {
	local controller
	mkdir "$lab/cgroup"
	for controller in "${slurm_controllers[@]}"; do
		new_group "$controller" "$1" "$lab/cgroup/$controller" || return 1
	done
	cpuset_of_parent "$lab/cgroup/cpuset" || return 1
	for controller in "${slurm_controllers[@]}"; do
		# A process of its own, which ends at once.
		(echo "$BASHPID" >"$lab/cgroup/$controller/cgroup.procs") 2>/dev/null || return 1
	done
}

# cpuset_of_parent GROUP: a new group of this controller has no cores and no memory at all.
cpuset_of_parent() {
	local file
	for file in cpuset.cpus cpuset.mems; do
		cat "$1/../$file" >"$1/$file" || return 1
	done 2>/dev/null
}

# new_group HIERARCHY NAME LINK
new_group() {
	local mount
	mount=$(hierarchy "$1")
	[[ $mount ]] && mkdir "$mount/$2" 2>/dev/null && ln -s "$mount/$2" "$3"
}

# hierarchy NAME: where the controller of version 1, or version 2 ("cgroup2"), is mounted; nothing when it is not.
hierarchy() {
	awk -v want="$1" '{
		split($0, half, " - "); split(half[2], of, " "); n = split(of[3], option, ",")
		found = of[1] == "cgroup2" && want == "cgroup2"
		for (i = 1; i <= n && of[1] == "cgroup"; i++) found = found || option[i] == want
		if (found) { print $5; exit }
	}' /proc/self/mountinfo
}

# binds: status 0 if the lab's jobs have no more than the cores, memory and devices that they were given.
binds() { [[ -L $lab/cgroup/cpuset ]]; }

# has_group: status 0 if the lab's processes are all in a group.
has_group() { [[ -L $lab/group && -d $lab/group ]]; }

# join_group DAEMON: this process, which becomes a daemon, and what it starts.
join_group() {
	local group=$lab/group
	has_group || return 0
	[[ ! $1 =~ ^n[1-9] ]] || group+=/$1
	mkdir -p "$group/"
	echo "$BASHPID" >"$group/cgroup.procs"
}

# processes_in GROUP...: also in the groups below; none when there is no such group.
processes_in() { find -L "$@" -name cgroup.procs -exec cat {} + 2>/dev/null | sort -un || true; }

# remove_groups LINK...: with all groups below them, once their processes are gone; the links too.
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

# removed GROUP: tries to; status 0 when nothing of it is left.
removed() {
	[[ ! -d $1 ]] || find "$1" -depth -type d -exec rmdir {} + 2>/dev/null
	[[ ! -d $1 ]]
}
