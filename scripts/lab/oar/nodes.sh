# shellcheck shell=bash disable=SC2154
# The nodes, in the lab's world: each with processes, mounts, a name, control groups and an sshd of its own, as far apart as hosts of a
# site are where OAR looks. Sourced by oar-lab.

# What OAR's manager of cpusets works with.
controllers=(cpuset cpu cpuacct devices freezer)

# hierarchy CONTROLLER: sets at, where the machine has it mounted (version 1), and options, with which; to nothing, where it has not. A node
# asks for each controller: it starts no program for that.
hierarchy() {
	local _ where kind with
	while read -r _ where kind with _; do
		if [[ $kind == cgroup && ,$with, == *",$1,"* ]]; then
			at=$where options=$with
			return
		fi
	done </proc/mounts
	at='' options=''
}

# without_cpusets RELEASE: says why a lab can have none; nothing, where it can.
without_cpusets() {
	local controller at options
	if [[ $1 != 2.5 ]]; then
		echo "OAR $1 has systemd make them, and the nodes of a lab have no systemd"
		return
	fi
	for controller in "${controllers[@]}"; do
		hierarchy "$controller"
		if [[ ! $at ]]; then
			echo "this machine has no control groups of version 1 for $controller"
			return
		fi
		if ! mkdir -p "$at/$groups" 2>/dev/null; then
			echo "nobody may make control groups in $at"
			return
		fi
	done
}

# slot_used: status 0 if processes are in the slot's control groups.
slot_used() {
	local controller at options
	for controller in "${controllers[@]}"; do
		hierarchy "$controller"
		[[ ! $at || ! -d $at/$groups ]] || ! find "$at/$groups" -name tasks -exec cat {} + 2>/dev/null | grep -q . || return 0
	done
	return 1
}

# enter_groups NODE: makes the node's, below the lab's. Who calls it is in them from then on.
enter_groups() {
	local controller at options group made=()
	for controller in "${controllers[@]}"; do
		hierarchy "$controller"
		made+=("$at/$groups/$1")
	done
	mkdir -p "${made[@]}"
	for controller in "${controllers[@]}"; do
		hierarchy "$controller"
		if [[ $controller == cpuset ]]; then
			for group in "$at/$groups" "$at/$groups/$1"; do
				echo "$(<"${group%/*}/cpuset.cpus")" >"$group/cpuset.cpus"
				echo "$(<"${group%/*}/cpuset.mems")" >"$group/cpuset.mems"
			done
		fi
		echo "$BASHPID" >"$at/$groups/$1/tasks"
	done
}

# remove_groups [NODE]: of all nodes, unless one is named. Their processes are dead; the kernel may need a moment to see it.
remove_groups() {
	local controller at options
	for controller in "${controllers[@]}"; do
		hierarchy "$controller"
		[[ ! $at ]] || within 30 group_removed "$at/$groups${1:+/$1}" || die "$at/$groups${1:+/$1} cannot be removed: processes are in it"
	done
}

group_removed() {
	[[ ! -d $1 ]] || find "$1" -depth -type d -exec rmdir {} + 2>/dev/null || [[ ! -d $1 ]]
}

# boot_nodes NAME...: all at once, and waits for them.
boot_nodes() {
	local name
	for name; do
		mkdir -p "$lab/nodes/$name"
		boot_node "$name" >>"$lab/nodes/$name/log" 2>&1 </dev/null &
	done
	for name; do
		within 120 listens_at "$name" 6667 || die "node $name does not come up: see $lab/nodes/$name/log"
	done
}

boot_node() {
	local cgroups=()
	if [[ ! $(setting without) ]]; then
		enter_groups "$1"
		cgroups=(--cgroup)
	fi
	exec setsid unshare --mount --pid --uts --ipc "${cgroups[@]}" --fork --kill-child "$here/oar-lab" the-node "$1"
}

listens_at() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }

# live_as NODE becomes the node's first process. What it does not share with others is where OAR's manager works: it ends processes, deletes
# users' files in temporary directories, and keeps what it knows in OAR's own.
live_as() {
	local name=$1 own _ dir
	read -r own _ </proc/self/stat # as the lab sees it, until the next line
	mount -t proc proc /proc
	hostname "$name"
	mount -t tmpfs -o mode=755 tmpfs "$lab/nodes/$name"
	[[ $(setting without) ]] || own_groups "$lab/nodes/$name/groups"
	cp -a /var/lib/oar "$lab/nodes/$name/oar"
	mount --bind "$lab/nodes/$name/oar" /var/lib/oar
	own_devices "$lab/nodes/$name/dev"
	for dir in /dev/shm /tmp /var/tmp; do
		mount -t tmpfs -o mode=1777 tmpfs "$dir"
	done
	echo "$own" >"/run/lab/$name.pid"
	exec /usr/sbin/sshd -D -e -f /etc/oar/sshd_config -o PidFile=none -o "ListenAddress=$(getent hosts "$name" | cut -d ' ' -f 1)"
}

# own_groups DIRECTORY: the node's part of the control groups, as if it were all.
own_groups() {
	local controller at options own word
	mkdir -p "${controllers[@]/#/$1/}"
	for controller in "${controllers[@]}"; do
		hierarchy "$controller"
		own=''
		for word in ${options//,/ }; do
			case $word in rw | ro | relatime | noatime | clone_children | release_agent=*) ;; *) own+=,$word ;; esac
		done
		mount -t cgroup -o "${own#,}" cgroup "$1/$controller"
	done
	mount --rbind "$1" /sys/fs/cgroup
}

# own_devices DIRECTORY: OAR's manager makes links in /dev.
own_devices() {
	mkdir -p "$1"/{pts,shm}
	cp -a /dev/{null,zero,full,random,urandom,tty} "$1/"
	ln -s /proc/self/fd "$1/fd"
	ln -s pts/ptmx "$1/ptmx"
	mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$1/pts"
	mount --rbind "$1" /dev
}

# on_node NODE COMMAND...: becomes the command, on the node.
on_node() {
	local name=$1 pid
	shift
	pid=$(pid_of_node "$name") || die "node $name is not up: 'oar-lab boot-node $name'"
	inside nsenter --target "$pid" --mount --pid --uts --ipc "$@"
}

# pid_of_node NODE: of its first process, as the lab sees it.
pid_of_node() { (inside cat "/run/lab/$1.pid" 2>/dev/null); }

# kill_node NODE: as if its power were cut.
kill_node() {
	local pid
	known_node "$1"
	has_nodes
	pid=$(pid_of_node "$1") || die "node $1 is not up"
	(inside bash -c 'kill -KILL "$0" && rm -f "$1"' "$pid" "/run/lab/$1.pid")
	within 30 node_gone "$pid" || die "node $1 (process $pid) cannot be ended"
	[[ $(setting without) ]] || remove_groups "$1"
}

# node_gone PROCESS: a killed node listens until its first process has run for the last time.
node_gone() { ! (inside kill -0 "$1" 2>/dev/null); }

# boot_one NODE: again, with nothing left of what it had.
boot_one() {
	known_node "$1"
	has_nodes
	! pid_of_node "$1" >/dev/null || die "node $1 is up"
	(inside "$here/oar-lab" the-boot "$1")
}

has_nodes() { [[ $(setting plain) == no ]] || die "the nodes of a plain lab are this machine"; }

known_node() {
	[[ ${1-} =~ ^n[1-9][0-9]{0,3}$ && ${1#n} -le $(setting nodes) ]] || die "${1-} is no node of this lab: they are n1 to n$(setting nodes)"
}
