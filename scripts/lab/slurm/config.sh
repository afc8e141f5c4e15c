# shellcheck shell=bash disable=SC2154
# The lab's folders and Slurm's configuration. Sourced by slurm-lab.

# write_config NODES FAST
write_config() {
	touch "$lab/booting" # `down` may remove what is created from here on
	make_folders
	make_groups
	[[ $kind != site ]] || make_site "$1"
	slurm_conf "$1" "$2" >"$lab/etc/slurm.conf"
	slurmdbd_conf >"$lab/etc/slurmdbd.conf"
	chown slurm: "$lab/etc/slurmdbd.conf"
	chmod 600 "$lab/etc/slurmdbd.conf"
	cgroup_conf >"$lab/etc/cgroup.conf"
	install -m 755 "$here/lab/slurm/unkillable" "$lab/etc/unkillable"
	if plugin_wanted; then
		install -m 644 "$repo/slurm/job_submit.lua" "$lab/etc/job_submit.lua"
		cat >"$lab/etc/accordion.lua" <<-LUA
			return { partitions = { "main" },$([[ $(lab_manage) == told ]] || echo " manage = \"$(lab_manage)\",") address = "$(sidecar_address)", munge_socket = "$lab/munge/socket", socket = "$lab/run/accordion.sock" }
		LUA
	fi
	if spank_wanted; then
		echo "optional $lab/bin/accordion.so"
	fi >"$lab/etc/plugstack.conf"
	echo "$(sidecar_address) $lab/munge/socket" >"$lab/etc/accordion.address"
	# This file is written last, because a directory with this file is a lab.
	{
		printf 'nodes=%d\nfast=%s\nkind=%s\ncpus=%d\nthin=%d\nrelease=%s\n' "$1" "$2" "$kind" "$cpus" "$(thin "$1")" "$release"
		echo "binds=$(binding)"
		[[ $kind == plain ]] || binds || echo "without=$(without)"
	} >"$lab/etc/lab"
	rm -f "$lab/booting"
}

# setting NAME prints a setting with which this lab was booted.
setting() { value_of "$1" "$lab/etc/lab"; }

make_folders() {
	mkdir -p "$lab"/{bin,db,db/tmp,etc,home,journal,log,munge,pid,run,spool,state}
	chmod 755 "$lab" "$lab"/*
	chown slurm: "$lab"/{state,log,pid,db,db/tmp}
	chown munge: "$lab/munge"
}

# sidecar_address is for jobs that do not know ACCORDION_SOCKET, as on other hosts.
sidecar_address() { echo "127.0.0.1:$((port + 2))"; }

plugin_wanted() { [[ ${SLURM_LAB_PLUGIN:-yes} != no && -f $repo/slurm/job_submit.lua ]]; }

# spank_wanted returns status 0 if the lab has job_submit.lua. Without that script the SPANK plug-in is useless,
# because nothing else reads its options.
spank_wanted() { plugin_wanted && [[ ${SLURM_LAB_SPANK:-yes} != no ]]; }

# slurm_conf NODES FAST prints slurm.conf, with Slurm's own defaults for all settings that affect Accordion's speed,
# so that delays are like those on a site.
slurm_conf() {
	{
		common_conf "$2"
		"${kind}_conf"
		node_lines "$1"
		"${kind}_partitions" "$1"
	} | overridden
	printf '%s\n' "${SLURM_LAB_EXTRA:-}" | grep -vE '^NodeName=|^[A-Za-z]+=$' || true
}

common_conf() {
	local scheduler=permit_job_expansion kill_wait=''
	if [[ $1 == yes ]]; then
		scheduler+=,sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1,bf_resolution=1,bf_continue
		kill_wait=KillWait=2
	fi
	cat <<CONF
ClusterName=lab
FirstJobId=$(first_job)
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$port
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket=$lab/munge/socket
CredType=cred/munge
SlurmUser=slurm
SlurmdUser=root
StateSaveLocation=$lab/state
SlurmdSpoolDir=$lab/spool/%n
SlurmctldPidFile=$lab/pid/slurmctld.pid
SlurmdPidFile=$lab/pid/%n.pid
SlurmctldLogFile=$lab/log/slurmctld.log
SlurmdLogFile=$lab/log/%n.log
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((port + 1))
AccountingStoragePass=$lab/munge/socket
$(comment_flag)
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=30
BatchStartTimeout=65000
MaxJobCount=20000
TreeWidth=65533
SchedulerType=sched/backfill
SchedulerParameters=$scheduler
$kill_wait
UnkillableStepProgram=$lab/etc/unkillable
UnkillableStepTimeout=10
PlugStackConfig=$lab/etc/plugstack.conf
$(plugin_wanted && echo JobSubmitPlugins=lua)
CONF
}

plain_conf() {
	cat <<CONF
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectTypeParameters=CR_Core
PriorityType=priority/basic
CONF
}

# plain_nodes NODES prints the number and the parameters of each node.
plain_nodes() { seq -f "%.0f CPUs=$cpus RealMemory=1000 TmpDisk=2000" "$1"; }

plain_partitions() {
	cat <<CONF
PartitionName=main Nodes=n[1-$1] Default=YES MaxTime=INFINITE DefaultTime=10 OverSubscribe=EXCLUSIVE State=UP
PartitionName=shared Nodes=n[1-$1] MaxTime=INFINITE DefaultTime=10 State=UP
CONF
}

cgroup_conf() {
	cgroup_plugin
	! binds || site_cgroup_conf
}

# node_lines NODES prints a line for each node. The parameters of SLURM_LAB_EXTRA come last, because Slurm uses the
# last value of a key. KEY= removes a parameter. Ports and addresses are always those of the lab.
node_lines() {
	{
		"${kind}_nodes" "$1"
		extra_nodes
	} | awk -v port="$port" -v nodes="$1" '
		{
			for (i = 2; i <= NF; i++) {
				key = $i; sub(/=.*/, "", key)
				if (!(($1, key) in word)) keys[$1] = keys[$1] " " key
				word[$1, key] = $i
			}
		}
		END {
			for (node = 1; node <= nodes; node++) {
				line = "NodeName=n" node " NodeHostname=localhost NodeAddr=127.0.0.1 Port=" port + 10 + node " State=UNKNOWN"
				n = split(keys[node], key_of, " ")
				for (i = 1; i <= n; i++) if (word[node, key_of[i]] !~ /=$/) line = line " " word[node, key_of[i]]
				print line
			}
		}'
}

# extra_nodes prints a line for each node that SLURM_LAB_EXTRA names (NodeName=n3, NodeName=n[1-4]), with the
# node's number and its parameters.
extra_nodes() {
	local name rest i
	while read -r name rest; do
		if [[ $name =~ ^NodeName=n(\[([0-9]+)-([0-9]+)\]|([0-9]+))$ ]]; then
			for ((i = BASH_REMATCH[4] + BASH_REMATCH[2]; i <= BASH_REMATCH[4] + BASH_REMATCH[3]; i++)); do
				echo "$i $rest"
			done
		elif [[ $name == NodeName=* ]]; then
			die "SLURM_LAB_EXTRA: $name: want NodeName=n3 or NodeName=n[1-4]"
		fi
	done <<<"${SLURM_LAB_EXTRA:-}"
}

# overridden copies slurm.conf. It leaves out the keys that SLURM_LAB_EXTRA sets, and partitions with the same
# names.
overridden() {
	awk '
		function key(line) { if (tolower(line) !~ /^partitionname=/) sub(/=.*/, "", line); sub(/ .*/, "", line); return tolower(line) }
		BEGIN { n = split(ENVIRON["SLURM_LAB_EXTRA"], lines, "\n"); for (i = 1; i <= n; i++) if (lines[i] ~ /=/) said[key(lines[i])] }
		tolower($0) ~ /^nodename=/ || !(key($0) in said)
	'
}

slurmdbd_conf() {
	cat <<CONF
AuthType=auth/munge
AuthInfo=socket=$lab/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$((port + 1))
CommunicationParameters=NoInAddrAny
SlurmUser=slurm
LogFile=$lab/log/slurmdbd.log
PidFile=$lab/pid/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StoragePass=lab
StorageLoc=slurm_acct_db
CommitDelay=0
CONF
}
