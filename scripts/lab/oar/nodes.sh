# shellcheck shell=bash disable=SC2154
# The nodes in the lab's world. Each has its own processes, mounts, name, control groups and sshd. In everything
# that OAR uses, the nodes are as separate as the hosts of a site. Sourced by oar-lab.

# The controllers that OAR's cpuset manager uses.
controllers=(cpuset cpu cpuacct devices freezer)

# hierarchy CONTROLLER sets the variable `at` to the controller's mount point (version 1), and `options` to its
# mount options. It sets both to "" if the controller is not mounted. It starts no program, because a node calls it
# for each controller.
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

# without_cpusets RELEASE prints why a lab cannot have cpusets, or nothing if it can.
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

# slot_used returns status 0 if processes are in the slot's control groups.
slot_used() {
	local controller at options
	for controller in "${controllers[@]}"; do
		hierarchy "$controller"
		[[ ! $at || ! -d $at/$groups ]] || ! find "$at/$groups" -name tasks -exec cat {} + 2>/dev/null | grep -q . || return 0
	done
	return 1
}

# enter_groups NODE makes the node's groups below the lab's, and moves the caller into them.
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

# remove_groups [NODE] removes the groups of all nodes or of one. The groups' processes are dead, but the kernel may
# need a moment to remove them.
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

# boot_nodes NAME... boots all nodes in parallel and waits for them.
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

# live_as NODE becomes the node's first process. It has its own view of everything that OAR's cpuset manager
# changes. That manager ends processes, deletes users' files in temporary directories, and keeps data in OAR's own
# directory.
live_as() {
	local name=$1 own _ dir
	read -r own _ </proc/self/stat # the process number as the lab sees it; the next line mounts the node's own /proc
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

# own_groups DIRECTORY makes the node's part of the control groups appear as the whole.
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

# own_devices DIRECTORY makes a /dev for the node, because OAR's cpuset manager makes links there.
own_devices() {
	mkdir -p "$1"/{pts,shm}
	cp -a /dev/{null,zero,full,random,urandom,tty} "$1/"
	ln -s /proc/self/fd "$1/fd"
	ln -s pts/ptmx "$1/ptmx"
	mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$1/pts"
	mount --rbind "$1" /dev
}

# on_node NODE COMMAND... becomes the command, on the node.
on_node() {
	local name=$1 pid
	shift
	pid=$(pid_of_node "$name") || die "node $name is not up: 'oar-lab boot-node $name'"
	inside nsenter --target "$pid" --mount --pid --uts --ipc "$@"
}

# pid_of_node NODE prints the number of the node's first process, as the lab sees it.
pid_of_node() { (inside cat "/run/lab/$1.pid" 2>/dev/null); }

# kill_node NODE ends the node as if its power were cut.
kill_node() {
	local pid
	known_node "$1"
	has_nodes
	pid=$(pid_of_node "$1") || die "node $1 is not up"
	(inside bash -c 'kill -KILL "$0" && rm -f "$1"' "$pid" "/run/lab/$1.pid")
	within 30 node_gone "$pid" || die "node $1 (process $pid) cannot be ended"
	[[ $(setting without) ]] || remove_groups "$1"
}

# node_gone PROCESS waits for a killed node, because the node listens until its first process has ended.
node_gone() { ! (inside kill -0 "$1" 2>/dev/null); }

# boot_one NODE boots a node again. Nothing of the node's former state is left.
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
