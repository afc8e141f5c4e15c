# shellcheck shell=bash disable=SC2154
# What the releases of Slurm, and of Debian with them, want differently, and nothing else. Sourced by slurm-lab and test.

# The releases that can be booted, each with the suite of Debian that has it.
declare -A suites=([20.11]=bullseye [22.05]=bookworm [24.11]=trixie [26.05]=sid)

# suite_of RELEASE
suite_of() {
	[[ ${suites[$1]-} ]] || wrong "up: --release $1: want $(printf '%s\n' "${!suites[@]}" | sort -V | paste -sd ' ')"
	echo "${suites[$1]}"
}

# own_suite SUITE: status 0 if this machine has it.
own_suite() { grep -qx "VERSION_CODENAME=\"\?$1\"\?" /etc/os-release; }

# fetch_releases: the roots of all that are not the machine's own, at the same time.
fetch_releases() {
	local suite packages process fetching=() status=0
	for suite in "${suites[@]}"; do
		own_suite "$suite" && continue
		read -ra packages < <(release_packages "$suite")
		release_root "$suite" "${packages[@]}" >/dev/null &
		fetching+=($!)
	done
	for process in "${fetching[@]}"; do
		wait "$process" || status=1
	done
	return "$status"
}

# release_packages SUITE: Debian's packages for a lab in a root of that suite.
release_packages() {
	local mariadb='' mpi=(mpich libmpich-dev openmpi-bin libopenmpi-dev)
	[[ $1 != bullseye ]] || mariadb=-10.5 mpi=() # programs of MPI do not span there
	echo slurmctld slurmd slurm-client slurmrestd slurmdbd slurm-wlm-basic-plugins munge "mariadb-server-core$mariadb" "mariadb-client-core$mariadb" \
		util-linux passwd procps iproute2 ca-certificates gcc libc6-dev libslurm-dev "${mpi[@]}"
}

# slurm_release: of the Slurm that is installed, such as 22.05.8.
slurm_release() { /usr/sbin/slurmctld -V | grep -oE '[0-9]+\.[0-9]+\.[0-9]+'; }

# since RELEASE: status 0 if the installed Slurm is that one or a later one.
since() {
	release=${release:-$(slurm_release)}
	[[ $(printf '%s\n' "$1" "$release" | sort -V | head -n 1) == "$1" ]]
}

# knows_unified: status 0 if Slurm can bind by control groups of version 2.
knows_unified() { since 22.05; }

# cgroup_plugin: lines of cgroup.conf, which is read at start even where nothing uses control groups.
cgroup_plugin() {
	if ! since 21.08; then # an unknown key is fatal
		return
	elif [[ $(cgroup_version) == 2 ]]; then
		echo CgroupPlugin=cgroup/v2
		echo IgnoreSystemd=yes
	elif ! binds && since 23.11; then
		echo CgroupPlugin=disabled
	else
		echo CgroupPlugin=cgroup/v1
	fi
}

# plugin_finder: sets the array finder to the words to put before slurmctld so that it finds job_submit.lua: beside slurm.conf as a rule,
# but before 21.08 in /etc/slurm only, for which it gets the lab's own etc to see.
plugin_finder() {
	finder=()
	# shellcheck disable=SC2016
	since 21.08 || finder=(unshare --mount /bin/sh -c 'mkdir -p /etc/slurm && mount --bind "$0" /etc/slurm && exec "$@"' "$lab/etc")
}

# comment_flag: jobs' comments go to the database; older ones do that unasked.
comment_flag() { ! since 21.08 || echo AccountingStoreFlags=job_comment; }

# forgets_when_killed: status 0 if slurmctld does not start after a kill -9 in its first minutes, before it has saved the usage of
# associations for the first time ("No Assoc usage file to recover"). Ended gracefully, it saves that.
forgets_when_killed() { since 25.05; }
