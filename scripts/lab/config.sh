# shellcheck shell=bash disable=SC2154
# The lab's folders and Slurm's configuration. Sourced by slurm-lab.

# write_config NODES FAST
write_config() {
	make_folders
	slurm_conf "$1" "$2" >"$lab/etc/slurm.conf"
	slurmdbd_conf >"$lab/etc/slurmdbd.conf"
	chown slurm: "$lab/etc/slurmdbd.conf"
	chmod 600 "$lab/etc/slurmdbd.conf"
	echo "CgroupPlugin=cgroup/v1" >"$lab/etc/cgroup.conf" # read at start even where nothing uses cgroups
	if plugin_wanted; then
		install -m 644 "$repo/slurm/job_submit.lua" "$lab/etc/job_submit.lua"
		cat >"$lab/etc/accordion.lua" <<-LUA
			return { partitions = { "main" }, address = "$(sidecar_address)", munge_socket = "$lab/munge/socket" }
		LUA
	fi
	: >"$lab/etc/plugstack.conf"
	if spank_wanted; then
		CFLAGS='' "$here/build-spank" "$lab/bin/accordion.so" || die "the SPANK plug-in cannot be built: see above (SLURM_LAB_SPANK=no leaves it out)"
		echo "optional $lab/bin/accordion.so" >"$lab/etc/plugstack.conf"
	fi
	echo "$(sidecar_address) $lab/munge/socket" >"$lab/etc/accordion.address"
	# Last: with this file it is a lab, which `down` may remove.
	printf 'nodes=%d\nfast=%s\n' "$1" "$2" >"$lab/etc/lab"
}

make_folders() {
	mkdir -p "$lab"/{bin,db,db/tmp,etc,home,journal,log,munge,pid,run,spool,state}
	chmod 755 "$lab" "$lab"/*
	chown slurm: "$lab"/{state,log,pid,db,db/tmp}
	chown munge: "$lab/munge"
}

# sidecar_address is for jobs that do not know ACCORDION_SOCKET, as on other hosts.
sidecar_address() { echo "127.0.0.1:$((port + 2))"; }

plugin_wanted() { [[ ${SLURM_LAB_PLUGIN:-yes} != no && -f $repo/slurm/job_submit.lua ]]; }

# spank_wanted: without job_submit.lua its options would be read by nobody.
spank_wanted() { plugin_wanted && [[ ${SLURM_LAB_SPANK:-yes} != no ]]; }

# Slurm's own defaults wherever they matter to Accordion: what is quick here must be quick at a site.
slurm_conf() {
	local nodes=$1 scheduler=permit_job_expansion kill_wait=''
	if [[ $2 == yes ]]; then
		scheduler+=,sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1,bf_resolution=1,bf_continue
		kill_wait=KillWait=2
	fi
	cat <<CONF
ClusterName=lab
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
AccountingStoreFlags=job_comment
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=30
BatchStartTimeout=65000
MaxJobCount=20000
TreeWidth=65533
SchedulerType=sched/backfill
SchedulerParameters=$scheduler
$kill_wait
PriorityType=priority/basic
PlugStackConfig=$lab/etc/plugstack.conf
$(plugin_wanted && echo JobSubmitPlugins=lua)
NodeName=n[1-$nodes] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[$((port + 11))-$((port + 10 + nodes))] CPUs=$cpus RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE DefaultTime=10 OverSubscribe=EXCLUSIVE State=UP
PartitionName=shared Nodes=n[1-$nodes] MaxTime=INFINITE DefaultTime=10 State=UP
${SLURM_LAB_EXTRA:-}
CONF
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
