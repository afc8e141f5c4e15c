# shellcheck shell=bash
# The Debian packages that the lab and the tests need, and their installation. Sourced by slurm-lab and test.

# For the build of the SPANK plug-in.
spank_programs=(
	/usr/bin/gcc:gcc
	/usr/include/stdlib.h:libc6-dev
	/usr/include/slurm/spank.h:libslurm-dev
)

# Programs of the lab, each with its package.
lab_programs=(
	/usr/sbin/slurmctld:slurmctld
	/usr/sbin/slurmd:slurmd
	/usr/bin/squeue:slurm-client
	/usr/sbin/slurmrestd:slurmrestd
	/usr/sbin/slurmdbd:slurmdbd
	/usr/lib/x86_64-linux-gnu/slurm-wlm/job_submit_lua.so:slurm-wlm-basic-plugins
	/usr/sbin/munged:munge
	/usr/sbin/mariadbd:mariadb-server-core
	/usr/bin/mariadb-install-db:mariadb-server-core
	/usr/bin/mariadb:mariadb-client-core
	/usr/bin/setpriv:util-linux
	/usr/sbin/useradd:passwd
	/usr/bin/pkill:procps
	/etc/ssl/certs/ca-certificates.crt:ca-certificates
	"${spank_programs[@]}"
)

# Programs of the lab of OAR.
oar_programs=(
	/usr/sbin/oar-server:oar-server
	/usr/bin/oarsub:oar-user
	/var/lib/dpkg/info/oar-server-pgsql.list:oar-server-pgsql
	/var/lib/dpkg/info/oar-server-mysql.list:oar-server-mysql
	/var/lib/dpkg/info/oar-user-pgsql.list:oar-user-pgsql
	/var/lib/dpkg/info/oar-user-mysql.list:oar-user-mysql
	/var/lib/dpkg/info/oar-node.list:oar-node
	/usr/share/perl5/YAML.pm:libyaml-perl
	/usr/share/perl5/JSON.pm:libjson-perl
	'/usr/lib/postgresql/*/bin/postgres:postgresql'
	/usr/bin/psql:postgresql-client
	/usr/sbin/mariadbd:mariadb-server-core
	/usr/bin/mariadb-install-db:mariadb-server-core
	/usr/bin/mariadb:mariadb-client-core
	/usr/bin/nsenter:util-linux
	/usr/sbin/useradd:passwd
	/usr/bin/pgrep:procps
	/bin/ip:iproute2
)

# Programs that the examples run in jobs.
application_programs=(
	/usr/bin/parallel:parallel
	/usr/bin/snakemake:snakemake
	/usr/bin/dask-scheduler:python3-distributed
	/usr/bin/nodeset:clustershell
)

# Further programs for scripts/test --real.
test_programs=(
	"${lab_programs[@]}"
	"${oar_programs[@]}"
	/usr/bin/lua5.1:lua5.1
	/bin/ip:iproute2
	/usr/bin/shellcheck:shellcheck
	/usr/bin/curl:curl
	/usr/bin/bzip2:bzip2
	/usr/bin/xz:xz-utils
	/usr/bin/zstd:zstd
	/usr/bin/python3:python3
	/usr/bin/gfortran:gfortran
	/usr/bin/mpicc.mpich:libmpich-dev
	/usr/bin/mpiexec.hydra:mpich
	/usr/bin/mpicc.openmpi:libopenmpi-dev
	/usr/bin/mpirun.openmpi:openmpi-bin
	"${application_programs[@]}"
	/usr/bin/prometheus:prometheus
	/usr/bin/promtool:prometheus
	/usr/bin/rpm:rpm
	/usr/bin/lintian:lintian
	/usr/bin/systemd-analyze:systemd
	/usr/bin/systemd-nspawn:systemd-container
)

# missing_packages PROGRAM:PACKAGE... prints the packages of missing programs, each once. A program may be a pattern.
missing_packages() {
	local pair file
	for pair; do
		file=${pair%%:*}
		# The name of the plug-ins' folder contains the machine's architecture.
		file=${file/x86_64-linux-gnu/$(uname -m)-linux-gnu}
		compgen -G "$file" >/dev/null || echo "${pair#*:}"
	done | sort -u
}

# install_programs PROGRAM:PACKAGE... installs the packages of missing programs. It does not start services. On
# each machine only one caller installs at a time.
install_programs() {
	local packages
	mapfile -t packages < <(missing_packages "$@")
	((${#packages[@]})) || return 0
	command -v apt-get >/dev/null || {
		echo "missing: ${packages[*]}; this is no Debian, so please install them by hand" >&2
		return 1
	}
	[[ $(id -u) == 0 ]] || {
		echo "missing: ${packages[*]}; run this as root, or: apt-get install ${packages[*]}" >&2
		return 1
	}
	(
		# The lock is a directory that every Debian has, so that no lock file is left behind.
		exec 7</var/lib/dpkg
		flock -n 7 || {
			echo "waiting for another script that installs packages: ${packages[*]}" >&2
			flock 7
		}
		mapfile -t packages < <(missing_packages "$@") # another caller may have installed them meanwhile
		((${#packages[@]})) && apt_install "${packages[@]}"
		exit 0
	) || return 1
	mapfile -t packages < <(missing_packages "$@")
	((${#packages[@]} == 0)) || {
		echo "could not install: ${packages[*]} (apt-get's words are above)" >&2
		return 1
	}
}

# apt_install PACKAGE... tries three times, because mirrors fail sometimes.
apt_install() {
	local try policy=/usr/sbin/policy-rc.d written=''
	echo "installing $*" >&2
	if [[ ! -e $policy ]]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy" # 101: no service may be started
		chmod 755 "$policy"
		written=yes
	fi
	for try in 1 2 3; do
		if apt_get update >&2 && apt_get install --no-install-recommends "$@" >&2; then
			break
		fi
		((try < 3)) && echo "apt-get failed, trying again" >&2 && sleep $((try * 3))
	done
	if [[ $written ]]; then
		rm -f "$policy"
	fi
}

apt_get() {
	DEBIAN_FRONTEND=noninteractive timeout 900 apt-get -q -y \
		-o DPkg::Lock::Timeout=600 -o Dpkg::Options::=--force-confold -o Acquire::Retries=3 "$@" </dev/null 7<&- 8<&-
}

install_lab() { install_programs "${lab_programs[@]}"; }
