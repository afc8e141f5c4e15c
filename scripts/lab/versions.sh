# shellcheck shell=bash disable=SC2154
# What the releases of Slurm want differently, and nothing else. Sourced by slurm-lab.

# slurm_release: of the Slurm that is installed, such as 22.05.8.
slurm_release() { /usr/sbin/slurmctld -V | grep -oE '[0-9]+\.[0-9]+\.[0-9]+'; }

# since RELEASE: status 0 if the installed Slurm is that one or a later one.
since() {
	release=${release:-$(slurm_release)}
	[[ $(printf '%s\n' "$1" "$release" | sort -V | head -n 1) == "$1" ]]
}

# cgroup_plugin: a line of cgroup.conf, which is read at start even where nothing uses cgroups.
cgroup_plugin() {
	if ! since 21.08; then # an unknown key is fatal
		return
	elif [[ $kind == plain ]] && since 23.11; then
		echo CgroupPlugin=disabled
	else
		echo CgroupPlugin=cgroup/v1
	fi
}

# comment_flag: jobs' comments go to the database; older ones do that unasked.
comment_flag() { ! since 21.08 || echo AccountingStoreFlags=job_comment; }

# forgets_when_killed: status 0 if slurmctld does not start after a kill -9 in its first minutes, before it has saved the usage of
# associations for the first time ("No Assoc usage file to recover"). Ended gracefully, it saves that.
forgets_when_killed() { since 25.05; }
