# shellcheck shell=bash disable=SC2154
# OAR's server and its nodes, in the lab's world. Sourced by oar-lab.

# configure_oar writes the differences from Debian's oar.conf.
configure_oar() {
	local type=Pg port=5432
	conf WALLTIME_CHANGE_ENABLED yes
	if [[ $(setting db) == mariadb ]]; then
		type=mysql port=3306
		conf WALLTIME_CHANGE_ENABLED no # OAR's queries for it are invalid SQL in MariaDB
	fi
	conf DB_TYPE $type
	conf DB_PORT $port
	conf DB_HOSTNAME 127.0.0.1
	conf DB_BASE_PASSWD lab # OAR refuses empty passwords
	conf DB_BASE_PASSWD_RO lab
	conf SERVER_HOSTNAME localhost
	conf LOG_LEVEL 3
	conf FINAUD_FREQUENCY 0 # no pings of idle nodes
	conf PINGCHECKER_SENTINELLE_SCRIPT_COMMAND
	conf PINGCHECKER_GENERIC_COMMAND /bin/true
	conf PROLOGUE_EXEC_FILE "/run/lab/bin/accordion oar prologue"
	# Cpusets, job keys and access to nodes are configured as in Debian, unless the lab has no nodes that support
	# them.
	[[ ! $(setting without) ]] || conf CPUSET_PATH
	if [[ $(setting plain) == yes ]]; then
		conf JOB_RESOURCE_MANAGER_PROPERTY_DB_FIELD
		conf OPENSSH_CMD "/run/lab/bin/to-node -p 6667 -e none"
	fi
	if [[ $(setting fast) == yes ]]; then
		conf SCHEDULER_MIN_TIME_BETWEEN_2_CALLS 0
		conf SCHEDULER_JOB_SECURITY_TIME 1
		conf SCHEDULER_GANTT_HOLE_MINIMUM_TIME 1
	fi
	chown oar: /etc/oar/oar.conf
	chmod 600 /etc/oar/oar.conf
	touch /var/log/oar.log
	chown oar: /var/log/oar.log
	write_to_node >"$lab/bin/to-node"
	chmod 755 "$lab/bin/to-node"
	# OpenSSH's preferred algorithms take 70 ms of processor time on each side of a connection. Debian's keys and
	# curve25519 take 20 ms.
	ssh-keygen -q -t ecdsa -b 256 -N '' -f /etc/oar/oar_ssh_host_ecdsa_key
	sed -i '/^HostKey /d' /etc/oar/sshd_config
	cat >>/etc/oar/sshd_config <<-'CONF'
		# A site has accordion in /usr/bin.
		SetEnv PATH=/run/lab/bin:/usr/local/bin:/usr/bin:/bin
		HostKey /etc/oar/oar_ssh_host_ecdsa_key
		KexAlgorithms ecdh-sha2-nistp256
	CONF
}

# conf NAME [VALUE] sets or removes a setting.
conf() {
	sed -i -E "/^#?$1=/d" /etc/oar/oar.conf
	(($# == 1)) || echo "$1=\"$2\"" >>/etc/oar/oar.conf
}

# write_to_node prints the program that OAR calls instead of ssh, because the nodes are on this machine.
write_to_node() {
	cat <<-'SCRIPT'
		#!/bin/bash
		# OAR calls this program instead of ssh: -options NODE COMMAND... It runs the command on this machine.
		# Accordion is in the directory of this file.
		while (($#)); do
			case $1 in
			-[peliloF]) shift 2 ;;
			-*) shift ;;
			*) break ;;
			esac
		done
		shift
		export OARDIR=/usr/lib/oar PATH=/usr/lib/oar/oardodo:${0%/*}:/usr/local/bin:/usr/bin:/bin SSH_CONNECTION="127.0.0.1 1 127.0.0.1 6667"
		cd /var/lib/oar || exit 255
		exec bash -c "$*"
	SCRIPT
}

# server_command prints the program that starts OAR's server. The server forks its modules (Forked.pm) if the lab was
# booted that way.
server_command() {
	[[ $(setting forked) != yes ]] || printf '%s\n' env "PERL5OPT=-I$here/lab/oar -MForked"
	echo /usr/sbin/oar-server
}

start_almighty() {
	local starting
	mapfile -t starting < <(server_command)
	"${starting[@]}"
	within 60 answers 6666 || die "OAR's server does not listen: $(tail -n 5 /var/log/oar.log)"
}

# answers PORT returns status 0 if a process listens on the port of the loopback address.
answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# make_resources adds the nodes and their cores. The cores are assigned to this machine's CPUs in turn. So a node
# with one core has one CPU, and its jobs can see that they have no other.
make_resources() {
	{
		printf 'insert into resources(network_address,state,state_num,cpu,core,cpuset,switch) values '
		awk -v nodes="$(setting nodes)" -v cores="$(setting cores)" -v processors="$(nproc --all)" 'BEGIN {
			for (n = 1; n <= nodes; n++)
				for (c = 1; c <= cores; c++) {
					core = (n - 1) * cores + c
					printf "%s(\047n%d\047,\047Alive\047,1,%d,%d,%d,\047s%d\047)", sep++ ? "," : "", n, n, core, (core - 1) % processors, int((n + 3) / 4)
				}
		}'
	} >"$lab/resources.sql"
	if [[ $(setting db) == postgresql ]]; then
		PGPASSWORD=lab psql -h 127.0.0.1 -U oar -q -v ON_ERROR_STOP=1 -d oar -f "$lab/resources.sql"
	else
		mariadb --no-defaults -h 127.0.0.1 -u oar -plab -D oar <"$lab/resources.sql"
	fi
}

# install_accordion makes the queue `evolve` and everything else that Accordion needs in OAR.
install_accordion() { /run/lab/bin/accordion oar install --queue evolve --priority 20; }

status() {
	local bad=0
	if database_runs; then echo "$(setting db) runs"; else
		echo "$(setting db) does not run"
		bad=1
	fi
	if (inside timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/6666' 2>/dev/null); then echo "Almighty runs"; else
		echo "Almighty does not run"
		bad=1
	fi
	nodes_status || bad=1
	sidecar_status || bad=1
	return $bad
}

nodes_status() {
	local nodes up
	[[ $(setting plain) == no ]] || return 0
	nodes=$(setting nodes)
	up=$( (inside bash -c 'shopt -s nullglob; for pid in /run/lab/n*.pid; do kill -0 "$(cat "$pid")" && echo; done') | wc -l)
	if ((up == nodes)); then
		echo "$up nodes run"
	else
		echo "$up of $nodes nodes run"
		return 1
	fi
}

set_node() {
	(($# == 2)) || wrong "node: want STATE NAME, such as Absent n3"
	[[ $1 =~ ^(Alive|Suspected|Absent|Dead)$ ]] || wrong "node: $1: want Alive, Suspected, Absent or Dead"
	known_node "$2"
	(inside timeout 60 oarnodesetting -s "$1" -h "$2" >/dev/null)
	within 60 node_is "$1" "$2" || die "$2 is not $1 after a minute: OAR's server has not carried the change out, see $lab/log/oar.log"
}

# node_is STATE NAME requests a change with oarnodesetting, and the server carries it out.
node_is() { [[ $(query "select count(*) from resources where network_address = '$2' and state <> '$1'") == 0 ]]; }

# kill_almighty kills the server. It also kills the server's modules, which would survive and keep the port. It
# does not affect jobs (oarexec). The next server starts only when no process listens on the port, because a killed
# process listens until it has ended, and would be mistaken for the next server.
# shellcheck disable=SC2016 # the dollars are the inner shell's
kill_almighty() {
	local starting
	(inside bash -c 'kill -KILL "$(cat /run/oar-server.pid)"')
	within 60 modules_gone || die "OAR's modules cannot be ended: see 'oar-lab exec -- pgrep -af perl'"
	mapfile -t starting < <(server_command)
	(inside "${starting[@]}")
	within 60 almighty_answers || die "OAR's server does not listen again: see $lab/log/oar.log"
}

# modules_gone kills the modules that still exist. It returns status 0 if there are none. In that case pkill
# returns status 1.
modules_gone() {
	local status=0
	(inside pkill -KILL -f '^(Almighty|/usr/bin/perl.*/usr/(sbin/Almighty|lib/oar/(sarko|NodeChangeState|Leon|oar_meta_sched|finaud)))') || status=$?
	((status == 1)) && ! almighty_answers
}

almighty_answers() { (inside timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/6666' 2>/dev/null); }
