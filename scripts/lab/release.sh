# shellcheck shell=bash
# Roots of other Debian releases, for daemons of other versions than this machine's. Sourced by the labs and by test.

# The folder in which the roots are kept for reuse. Each has one to three gigabytes.
release_roots=${ACCORDION_LABS:-/var/cache/accordion-labs}

# The programs that make roots.
release_programs=(
	/usr/sbin/debootstrap:debootstrap
	/usr/share/keyrings/debian-archive-keyring.gpg:debian-archive-keyring
	/usr/bin/unshare:util-linux
)

# release_root SUITE PACKAGE... prints the directory of a root of a Debian suite with these packages. Before that
# it fetches what is missing. On each machine only one caller does this at a time. It starts no services. Roots are
# shared, so callers may change only a copy.
release_root() {
	local suite=$1 root=$release_roots/$1
	shift
	[[ $suite =~ ^[a-z]+$ ]] || {
		echo "release $suite: want the name of a Debian suite, such as trixie" >&2
		return 1
	}
	install_programs "${release_programs[@]}" || return 1
	mkdir -p "$release_roots" || return 1
	(
		exec 7>"$root.lock"
		flock 7
		[[ -d $root ]] || make_root "$suite" "$root" || exit 1
		mapfile -t packages < <(absent_packages "$root" "$@")
		((${#packages[@]} == 0)) || install_into "$root" "${packages[@]}" || exit 1
	) >&2 </dev/null || {
		echo "Debian $suite could not be made ready in $root (the words of debootstrap and apt-get are above)" >&2
		return 1
	}
	echo "$root"
}

# make_root SUITE ROOT makes a root. A root that exists is complete. make_root deletes what an interrupted call left.
make_root() {
	local try
	for try in 1 2 3; do
		rm -rf --one-file-system "$2.new" || return 1
		echo "fetching Debian $1 into $2"
		if timeout 1800 debootstrap --variant=minbase "$1" "$2.new" "$(debian_mirror)" 7<&-; then
			printf '#!/bin/sh\nexit 101\n' >"$2.new/usr/sbin/policy-rc.d" # 101: no service may be started
			chmod 755 "$2.new/usr/sbin/policy-rc.d"
			mv "$2.new" "$2"
			return
		fi
		sleep $((try * 3)) # mirrors fail sometimes
	done
	return 1
}

# debian_mirror prints the mirror that this machine uses.
debian_mirror() {
	local mirror
	mirror=$(sed -nE 's,^(deb +(\[[^]]*\] +)?|URIs: *)(https?://[^ ]+/debian)/?( .*)?$,\3,p' \
		/etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)
	echo "${mirror:-http://deb.debian.org/debian}"
}

# absent_packages ROOT PACKAGE... prints the packages that are not installed in the root.
absent_packages() {
	local root=$1 there
	shift
	there=$(chroot "$root" dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null)
	printf '%s\n' "$@" | grep -vxF -f <(sed -n 's/^installed //p' <<<"$there")
}

# install_into ROOT PACKAGE... installs packages in separate namespaces, so that it leaves no mount and no process
# behind. It resolves names and fetches packages as this machine does.
install_into() {
	local root=$1 try
	shift
	echo "installing $* into $root"
	cp --dereference /etc/resolv.conf "$root/etc/resolv.conf" || return 1
	apt-config dump --no-empty | grep -E '^Acquire::(https?|Check-[A-Za-z-]+)\b' >"$root/etc/apt/apt.conf.d/90machine"
	for try in 1 2 3; do
		# shellcheck disable=SC2016 # the dollars are for the inner shell
		timeout 1800 unshare --mount --pid --fork --kill-child bash -c '
			mount --make-rprivate / && mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" || exit
			export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
			apt=(chroot "$0" apt-get -q -y -o Dpkg::Options::=--force-confold -o Acquire::Retries=3)
			"${apt[@]}" update && "${apt[@]}" install --no-install-recommends "$@" && "${apt[@]}" clean
		' "$root" "$@" 7<&- && return
		sleep $((try * 3))
	done
	return 1
}

# c_compiler SUITE prints the command of this machine's compiler with the C library of a Debian suite. A program
# that is built against an older library runs on newer ones. c_compiler keeps a copy of that library whose links
# lead to files of the copy, because the links in a root lead to the machine's files. gcc searches the machine's
# folders before folders below --sysroot, but not before folders of -B.
c_compiler() {
	local root to=$release_roots/c-library-$1
	root=$(release_root "$1" libc6-dev linux-libc-dev) || return 1
	[[ -d $to ]] || (
		exec 7>"$root.lock"
		flock 7
		[[ ! -d $to ]] || exit 0
		rm -rf "$to.new" && mkdir "$to.new" && cd "$root" || exit 1
		sed -n 's,^/\(.*/.*\),\1,p' var/lib/dpkg/info/{libc6,libc6-dev,linux-libc-dev,libcrypt-dev}:"$(chroot . dpkg --print-architecture)".list |
			while read -r file; do [[ -d $file ]] || echo "$file"; done | grep -vE '^usr/share/' | xargs -d '\n' cp -d --parents -t "$to.new" || exit 1
		find "$to.new" -type l -lname '/*' -printf '%p\t%l\n' | while IFS=$'\t' read -r link target; do ln -sfn "$to$target" "$link" || exit 1; done
		mv "$to.new" "$to"
	) >&2 || {
		echo "the C library of Debian $1 could not be copied to $to" >&2
		return 1
	}
	echo "${CC:-gcc} --sysroot=$to -B$to/usr/lib/$(uname -m)-linux-gnu"
}
