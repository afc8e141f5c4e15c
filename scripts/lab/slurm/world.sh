# shellcheck shell=bash disable=SC2154
# The world of a lab of another release. It is a root of the Debian suite that has the release, in namespaces of
# mounts, processes and network. When its first process ends, all other processes of the world end. In a world this
# program makes a lab as it does on a machine. The lab's directory and the repository have the same paths inside
# and outside. Sourced by slurm-lab.
#
# Nothing is written to the root, which all labs of its release share. The world's changes are in memory. The top
# control groups of the world are ordinary groups on the machine. So all groups that were made in the world can be
# removed.

namespaces=(--mount --net --pid --uts --ipc --cgroup)

in_world() { [[ -e /run/accordion-world ]]; }

# has_world returns status 0 if the lab is in a world and this process is not.
has_world() { [[ -d $lab/world ]] && ! in_world; }

# up_in_world RELEASE ARGUMENTS runs up in a world, which it makes if necessary.
up_in_world() {
	local wanted=$1
	shift
	if ! has_world; then
		[[ ! -d $lab || -z $(ls -A "$lab") ]] || die "a lab of this machine's own release lives in $lab: 'slurm-lab down' first"
		need_world "$wanted"
		if newer_libraries "$release_roots/$(suite_of "$wanted")"; then
			build_accordion || failed build "of ./cmd/accordion failed"
			touch "$lab/world/built"
		fi
		make_clients
	elif [[ $wanted && -f $lab/etc/lab && $(setting release) != "$wanted".* ]]; then
		die "a lab of Slurm $(setting release) lives in $lab: 'slurm-lab down' first"
	fi
	with_go inside "$here/slurm-lab" up "$@"
}

# try_in_world RELEASE [--] COMMAND... runs the command as root in a world without a lab. The world ends with the
# command.
try_in_world() {
	local wanted=${1-} status=0
	(($#)) || wrong "world: which release?"
	suite_of "$wanted" >/dev/null || exit
	shift
	[[ ${1-} != -- ]] || shift
	(($#)) || wrong "world: which command?"
	lab=$(mktemp -d /var/tmp/accordion-world.XXXXXX)
	trap 'down >/dev/null' EXIT
	need_world "$wanted" lua5.1 gfortran mpich libmpich-dev
	# shellcheck disable=SC2016
	(with_go inside /bin/sh -c 'cd "$0" 2>/dev/null; exec "$@"' "$PWD" "$@") || status=$?
	exit "$status"
}

# need_world RELEASE PACKAGE... makes the world of this lab, with further packages.
need_world() {
	local suite root packages places
	suite=$(suite_of "$1") || exit
	read -ra packages < <(release_packages "$suite")
	root=$(release_root "$suite" "${packages[@]}" "${@:2}") || exit 1
	has_release "$root" "$1"
	mkdir -p "$lab"/{bin,log,world/{root,own,tmp,groups}}
	chmod 755 "$lab"
	chmod 1777 "$lab/world/tmp"
	lock_lab
	make_world_groups
	mapfile -t places < <(go_places)
	begin_world "$root" "${places[@]}"
	exec 8<&-
}

# go_places prints Go's own folder, the module cache and the build cache.
go_places() { go env GOROOT GOMODCACHE GOCACHE; }

# with_go COMMAND... runs the command with these folders in its environment, without network access for Go.
with_go() {
	local places flags
	mapfile -t places < <(go_places)
	mapfile -t flags < <(go env GOFLAGS)
	PATH=${places[0]}/bin:$PATH GOMODCACHE=${places[1]} GOCACHE=${places[2]} GOFLAGS=${flags[0]} GOPROXY=off "$@"
}

# make_world_groups makes the groups that the world sees as the whole of each hierarchy. It omits hierarchies that
# cannot be written.
make_world_groups() {
	local hierarchy name=accordion-world.$BASHPID.$RANDOM
	for hierarchy in cgroup2 "${slurm_controllers[@]}"; do
		new_group "$hierarchy" "$name" "$lab/world/groups/$hierarchy" || true
	done
	[[ ! -L $lab/world/groups/cpuset ]] || cpuset_of_parent "$lab/world/groups/cpuset" || true
}

# has_release ROOT RELEASE checks the installed release of Slurm, because the packages of an unreleased suite change.
has_release() {
	local has
	has=$(chroot "$1" /usr/sbin/slurmctld -V) || die "slurmctld of $1 does not run"
	[[ $has =~ \ "$2"\. ]] || die "up: --release $2: Debian's $(basename "$1") has $has now: another suite must be named for $2 in $here/lab/versions.sh"
}

# newer_libraries ROOT returns status 0 if programs that were built on this machine run in the root.
newer_libraries() {
	local ours theirs
	ours=$(getconf GNU_LIBC_VERSION)
	theirs=$(chroot "$1" getconf GNU_LIBC_VERSION)
	[[ $(printf '%s\n' "${ours##* }" "${theirs##* }" | sort -V | head -n 1) == "${ours##* }" ]]
}

# begin_world ROOT GOROOT GOMODCACHE GOCACHE starts the world in the background and waits until it is ready.
begin_world() {
	local group
	mkdir -p "$databases" "${@:2}"
	(
		# These groups are the top of the world's view of control groups.
		for group in "$lab"/world/groups/*; do
			[[ ! -L $group ]] || echo "$BASHPID" >"$group/cgroup.procs"
		done
		exec setsid env SLURM_LAB_DIR="$lab" unshare "${namespaces[@]}" --fork --kill-child "$here/slurm-lab" the-world "$@"
	) >"$lab/world/log" 2>&1 </dev/null 8<&- &
	local world=$!
	within 60 begun "$world" && lives || {
		kill -KILL "$world" 2>/dev/null || true
		die "the world of this release cannot be made: $(tail -n 3 "$lab/world/log" | paste -sd ' ')"
	}
	disown "$world"
	# In version 2 a group has either processes or groups.
	local first=$lab/world/groups/cgroup2 process
	if [[ -L $first ]]; then
		mkdir "$first/first"
		for process in $(cat "$first/cgroup.procs"); do
			echo "$process" >"$first/first/cgroup.procs"
		done
		has_controllers "$first/.." && has_controllers "$first" || true
	fi
}

# begun PROCESS returns status 0 if the world is ready or has failed.
begun() { [[ -s $lab/world/init ]] || ! alive "$1"; }

# make_world ROOT GOROOT GOMODCACHE GOCACHE runs in the first process, which builds the world and enters it.
make_world() {
	local own new=$lab/world/root dir
	read -r own _ </proc/self/stat # as seen outside, until /proc is mounted here
	mount -t tmpfs -o mode=755 tmpfs "$lab/world/own"
	mkdir "$lab/world/own/changes" "$lab/world/own/work"
	mount -t overlay -o "lowerdir=$1,upperdir=$lab/world/own/changes,workdir=$lab/world/own/work" overlay "$new"
	mount -t proc proc "$new/proc"
	mount --rbind /sys "$new/sys"
	mount --rbind /dev "$new/dev"
	mount -t tmpfs -o mode=1777 tmpfs "$new/dev/shm"
	mount -t tmpfs -o mode=755 tmpfs "$new/run"
	for dir in "$lab"/world/groups/*; do
		[[ ! -L $dir ]] || mount --bind "$dir/" "$new$(dirname "$(readlink "$dir")")"
	done
	mount --bind "$lab/world/tmp" "$new/var/tmp"
	# Go's folder, the modules and the repository are read-only in the world. The build cache is the machine's.
	for dir in "$repo" "$2" "$3" "$4" "$databases" "$lab"; do
		mkdir -p "$new$dir"
		mount --bind "$dir" "$new$dir"
	done
	for dir in "$repo" "$2" "$3"; do
		mount -o remount,bind,ro "$new$dir"
	done
	echo "127.0.0.1 localhost $(basename "$1")" >"$new/etc/hosts" # slurmdbd listens at the address of the host's own name
	basename "$1" >"$new/etc/hostname"
	cd "$new"
	mkdir .old
	pivot_root . .old
	exec /bin/bash "$here/slurm-lab" in-the-world "$own"
}

# live PROCESS runs in the first process after it entered its root: it completes the world and reaps processes.
live() {
	cd /
	umount --lazy /.old
	rmdir /.old
	hostname "$(cat /etc/hostname)"
	# A name is resolved only if an interface other than lo has an address.
	ip link set lo up
	ip link add world0 type veth peer name world1
	ip address add 10.99.1.1/24 dev world0
	ip link set world0 up
	ip link set world1 up
	echo "$lab" >/run/accordion-world
	echo "$1" >"$lab/world/init.new"
	mv "$lab/world/init.new" "$lab/world/init"
	exec >/dev/null 2>&1
	while :; do
		sleep 1000000 &
		wait $! || true
	done
}

# lives returns status 0 if the world's first process lives and belongs to this lab (process numbers are reused).
lives() {
	local pid
	pid=$(cat "$lab/world/init" 2>/dev/null) || return 1
	[[ $(cat "/proc/$pid/root/run/accordion-world" 2>/dev/null) == "$lab" ]]
}

# inside COMMAND... becomes the command, in the world.
inside() {
	lives || die "the world of the lab in $lab is dead: 'slurm-lab down' clears it away"
	unset LC_ALL TMPDIR
	LANG=C.UTF-8 exec nsenter --target "$(cat "$lab/world/init")" "${namespaces[@]}" -- "$@" 8<&-
}

# end_world kills the first process, which ends all others.
end_world() {
	local pid
	if lives; then
		pid=$(cat "$lab/world/init")
		kill -KILL "$pid"
		within 30 dead "$pid" || die "process $pid, the first of the lab's world, cannot be ended"
	fi
}

# make_clients makes Slurm's programs available to root outside, as if the lab were there.
make_clients() {
	local name
	mkdir -p "$lab/client"
	for name in sacct sacctmgr salloc sattach sbatch sbcast scancel scontrol sdiag sinfo sprio squeue sreport srun sshare sstat; do
		cat >"$lab/client/$name" <<-CLIENT
			#!/bin/sh
			exec nsenter --target "\$(cat "$lab/world/init")" ${namespaces[*]} -- /usr/bin/$name "\$@"
		CLIENT
		chmod 755 "$lab/client/$name"
	done
}
