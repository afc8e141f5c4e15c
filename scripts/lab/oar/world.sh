# shellcheck shell=bash disable=SC2154
# The lab's world: namespaces of processes, mounts and network. The lab's first process is their init. When that
# process ends, the kernel ends all others. The lab changes its own copy of /etc. Sourced by oar-lab.

# take_turn locks the lab's directory for one lab. The lab's processes hold the lock. So it is released when the
# last of them has ended, and no lock file is left behind.
take_turn() {
	local new=no
	[[ -d $lab ]] || new=yes
	mkdir -p "$lab"
	exec 8<"$lab"
	flock -n 8 || die "a lab of OAR lives in $lab already, and there can be one in a directory: 'oar-lab down' first"
	! slot_used || {
		[[ $new == no ]] || rmdir "$lab"
		die "OAR_LAB_SLOT=$slot: processes of another lab are in $groups: take another slot, or end that lab"
	}
}

# begin_world starts the world in the background and waits until it is ready.
begin_world() {
	setsid unshare --mount --net --pid --uts --ipc --fork --kill-child "$here/oar-lab" the-world \
		>"$lab/log/lab.log" 2>&1 </dev/null &
	local world=$! end=$((SECONDS + 240))
	until [[ -e $lab/ready ]]; do
		((SECONDS < end)) && kill -0 "$world" 2>/dev/null || {
			kill -KILL "$world" 2>/dev/null || true
			wait "$world" 2>/dev/null || true
			echo "oar-lab: OAR did not start; the end of $lab/log/lab.log:" >&2
			tail -n 12 "$lab/log/lab.log" | sed 's/^/  /' >&2
			exit 1
		}
		pause
	done
	disown "$world"
}

# live runs in the first process: it makes the world, boots its daemons, and reaps processes.
live() {
	local own
	read -ra own </proc/self/stat # as seen outside, because the next lines mount another /proc; the 22nd field is the start time
	[[ $(setting root) == / ]] || enter_root "$(setting root)"
	mount -t proc proc /proc
	echo "${own[21]}" >"$lab/began"
	echo "${own[0]}" >"$lab/init"
	ip link set lo up
	hostname oar-lab
	# These are in memory. On a disk, labs that start and end would make the file system search long for unused
	# inode numbers.
	mkdir -p "$lab/own"
	mount -t tmpfs -o mode=755 tmpfs "$lab/own"
	(
		flock 7 # no lab of Slurm may add a user while /etc is copied
		make_own /etc
	) 7</var/lib/dpkg
	make_own /var/lib/oar /usr/lib/oar/schedulers /usr/lib/oar/database
	mount --bind "$lab/log" /var/log
	mount -t tmpfs -o mode=755 tmpfs /run
	mount -t tmpfs -o mode=1777 tmpfs /dev/shm # otherwise the shared memory of PostgreSQL, which is killed with the lab, would stay on the machine
	show_lab
	make_names
	start_database
	configure_oar
	make_schema
	start_almighty
	make_resources
	[[ $(setting plain) == yes ]] || boot_nodes $(seq -f 'n%.0f' "$(setting nodes)")
	install_accordion
	make_clients
	touch "$lab/ready"
	while :; do
		sleep 1000000 &
		wait $! || true
	done
}

# make_own DIRECTORY... gives the lab its own copy of a directory.
make_own() {
	local dir copy
	for dir; do
		copy=$lab/own$dir
		mkdir -p "$(dirname "$copy")"
		cp -a "$dir" "$copy"
		mount --bind "$copy" "$dir"
	done
}

# enter_root ROOT makes the root of another Debian release the root of this world. It adds the machine's
# directories that the lab needs: those of the lab and of these scripts, and /tmp, from which tests start programs.
# It changes nothing in ROOT.
enter_root() {
	local entry dir root=$lab/root
	mkdir "$root"
	mount -t tmpfs -o mode=755 tmpfs "$root"
	for entry in "$1"/*; do
		if [[ -L $entry ]]; then
			cp -a "$entry" "$root/"
		else
			mkdir "$root/${entry##*/}"
			mount --bind "$entry" "$root/${entry##*/}"
		fi
	done
	for dir in /dev /sys /tmp /var/tmp; do
		mount --rbind "$dir" "$root$dir"
	done
	for dir in "$lab" "$repo"; do
		[[ $dir == /tmp/* || $dir == /var/tmp/* ]] && continue
		entry=/$(cut -d / -f 2 <<<"$dir")
		[[ ! $entry =~ ^/(usr|etc|var|proc|dev|sys|run)$ ]] || die "$dir is below $entry, which is another one in a lab of another release"
		mkdir -p "$root$entry"
		mount --rbind "$entry" "$root$entry"
	done
	mkdir "$root/.old"
	cd "$root"
	pivot_root . .old
	cd /
	mount -t proc proc /proc # umount reads the mounts there
	umount -l /.old
}

# show_lab mounts the part of the lab's directory that the nodes must see, because the nodes have their own
# temporary directories.
show_lab() {
	local name
	for name in bin home; do
		mkdir -p "/run/lab/$name"
		mount --bind "$lab/$name" "/run/lab/$name"
	done
	mkdir -p /run/sshd
}

# make_names adds the users, and the nodes, each with its own loopback address. The user IDs are above those that a
# machine assigns to its own users. Otherwise a command outside that ends all processes of a user would end the
# lab's processes, too. Each slot has its own user IDs, because labs share /tmp, where the names of Accordion's
# directories contain the user ID.
make_names() {
	local user uid=$((58001 + 100 * slot))
	{
		echo "127.0.0.1 localhost oar-lab"
		awk -v nodes="$(setting nodes)" 'BEGIN { for (n = 1; n <= nodes; n++) printf "127.1.%d.%d n%d\n", n / 250, n % 250 + 1, n }'
	} >/etc/hosts
	while read -r user; do
		# The machine may have a user of that name, but the lab must not.
		if getent passwd "$user" >/dev/null; then
			sed -i "/^$user:/d" /etc/passwd /etc/shadow /etc/group /etc/gshadow
		fi
		useradd --uid "$uid" --user-group --no-create-home --home-dir "/run/lab/home/$user" --shell /bin/bash "$user"
		install -d -m 700 -o "$user" -g "$user" "$lab/home/$user"
		install -m 600 -o "$user" -g "$user" /dev/null "$lab/home/$user/.bashrc" # OAR's shells read this file
		uid=$((uid + 1))
	done <"$lab/users"
}

# lives returns status 0 if the lab's first process lives and belongs to this lab (process numbers are reused).
lives() {
	local pid words
	{ read -r pid <"$lab/init" && [[ $pid =~ ^[0-9]+$ ]] && mapfile -d '' words <"/proc/$pid/cmdline"; } 2>/dev/null || return 1
	[[ "${words[*]} " == *"oar-lab the-world "* && ! /proc/$pid/ns/pid -ef /proc/self/ns/pid ]] &&
		[[ -e /proc/$pid/root$lab/init && $(<"/proc/$pid/root$lab/init") == "$pid" ]]
}

# end_world kills the first process, which ends all others, and waits until they have ended. The kernel ends the
# first process last. A process that is ending no longer has a command line and a root, so end_world identifies it
# by number and start time.
end_world() {
	local pid began
	pid=$(cat "$lab/init" 2>/dev/null) && began=$(cat "$lab/began" 2>/dev/null) || return 0
	! lives || kill -KILL "$pid" 2>/dev/null || :
	within 60 ended "$pid" "$began" || die "process $pid of the lab cannot be ended"
}

# ended PID BEGAN returns status 0 if the process with that number and start time, in ticks since the machine's
# start, has ended or only waits to be reaped.
ended() {
	local stat fields
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
	read -ra fields <<<"${stat##*) }" # the fields of /proc/PID/stat from the third on
	[[ ${fields[0]} == [ZX] || ${fields[19]} != "$2" ]]
}

# inside COMMAND... becomes the command, in the lab's world.
inside() { exec nsenter --target "$(cat "$lab/init")" --mount --net --pid --uts --ipc -- "$@"; }

# run_as USER COMMAND... becomes the command, as the user, without the caller's job and client settings. The
# command runs on the node in $node, or on OAR's server if $node is empty.
run_as() {
	local user=$1 home=/run/lab/home/$1 place=(inside)
	shift
	[[ ! $node ]] || place=(on_node "$node")
	case $user in root | oar) home=/var/lib/oar ;; esac
	"${place[@]}" \
		env -i "PATH=/run/lab/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "HOME=$home" "USER=$user" \
		"LOGNAME=$user" SHELL=/bin/bash "TERM=${TERM:-dumb}" LANG=C.UTF-8 "OAR_LAB_DIR=$lab" \
		setpriv --reuid "$user" --regid "$user" --clear-groups -- \
		/bin/sh -c 'cd "$HOME" && exec "$@"' sh "$@"
}

# make_clients makes OAR's programs available outside, as if OAR were there.
make_clients() {
	local name
	mkdir -p "$lab/client"
	for name in oarsub oarstat oardel oarnodes oarhold oarresume oarwalltime; do
		printf '#!/bin/sh\nOAR_LAB_DIR=%q exec %q exec -- %s "$@"\n' "$lab" "$here/oar-lab" "$name" >"$lab/client/$name"
		chmod 755 "$lab/client/$name"
	done
}
