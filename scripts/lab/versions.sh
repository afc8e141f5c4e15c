# shellcheck shell=bash disable=SC2154
# Differences between releases of Slurm, and the Debian suites that have these releases. Sourced by slurm-lab and test.

# The releases that can be booted, each with the Debian suite that has it.
declare -A suites=([20.11]=bullseye [22.05]=bookworm [24.11]=trixie [26.05]=sid)

# suite_of RELEASE
suite_of() {
	[[ ${suites[$1]-} ]] || wrong "up: --release $1: want $(printf '%s\n' "${!suites[@]}" | sort -V | paste -sd ' ')"
	echo "${suites[$1]}"
}

# own_suite SUITE returns status 0 if the suite is this machine's.
own_suite() { grep -qx "VERSION_CODENAME=\"\?$1\"\?" /etc/os-release; }

# fetch_releases fetches the roots of all suites other than the machine's, in parallel.
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

# release_packages SUITE prints the Debian packages for a lab in a root of that suite.
release_packages() {
	local mariadb='' mpi=(mpich libmpich-dev openmpi-bin libopenmpi-dev)
	[[ $1 != bullseye ]] || mariadb=-10.5 mpi=() # there MPI programs cannot span allocations
	echo slurmctld slurmd slurm-client slurmrestd slurmdbd slurm-wlm-basic-plugins munge "mariadb-server-core$mariadb" "mariadb-client-core$mariadb" \
		util-linux passwd procps iproute2 ca-certificates gcc libc6-dev libslurm-dev "${mpi[@]}"
}

# slurm_release prints the release of the installed Slurm, such as 22.05.8.
slurm_release() { /usr/sbin/slurmctld -V | grep -oE '[0-9]+\.[0-9]+\.[0-9]+'; }

# since RELEASE returns status 0 if the installed Slurm is that release or a later one.
since() {
	release=${release:-$(slurm_release)}
	[[ $(printf '%s\n' "$1" "$release" | sort -V | head -n 1) == "$1" ]]
}

# knows_unified returns status 0 if Slurm can bind with control groups of version 2.
knows_unified() { since 22.05; }

# cgroup_plugin prints lines for cgroup.conf, which is read at start even if nothing uses control groups.
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

# plugin_finder sets the array `finder` to the words before slurmctld with which slurmctld finds job_submit.lua.
# Since 21.08 the file is in the folder of slurm.conf. Older releases read it only from /etc/slurm, so their
# slurmctld sees the lab's own folder etc there.
plugin_finder() {
	finder=()
	# shellcheck disable=SC2016
	since 21.08 || finder=(unshare --mount /bin/sh -c 'mkdir -p /etc/slurm && mount --bind "$0" /etc/slurm && exec "$@"' "$lab/etc")
}

# comment_flag prints the flag that stores jobs' comments in the database. Older releases always store them.
comment_flag() { ! since 21.08 || echo AccountingStoreFlags=job_comment; }

# forgets_when_killed returns status 0 if slurmctld cannot start after a kill -9 in its first minutes. Until then
# slurmctld has not saved the usage of associations ("No Assoc usage file to recover"). slurmctld also saves the
# usage when it ends normally.
forgets_when_killed() { since 25.05; }
