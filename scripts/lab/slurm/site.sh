# shellcheck shell=bash disable=SC2154
# The setup of most sites: bound cores, memory and devices, GPUs, fair share, limits. Sourced by slurm-lab.

accounts=(phys chem cs)
gpus=4              # of a node with GPUs
node_memory=4000    # MB, of any node
memory_of_jobs=3600 # MB, for a job that requests all cores of a node and no memory

# thin NODES prints how many of the nodes have no GPUs. These nodes come first.
thin() {
	if [[ $kind == plain ]]; then
		echo "$1"
	else
		echo $((($1 + 1) / 2))
	fi
}

# fits_machine checks the number of cores, because only existing cores can be bound.
fits_machine() {
	((cpus <= $(nproc))) || wrong "SLURM_LAB_CPUS=$cpus: cores are bound here, and this machine has $(nproc) (--plain binds none)"
}

# make_site NODES makes the files to which slurm.conf refers. GPUs are character devices. Their major number is
# reserved for samples and has no driver. Opening such a device gives ENXIO if it is permitted, and EPERM if the
# control group forbids it.
make_site() {
	local i fat
	fat="n[$(($(thin "$1") + 1))-$1]"
	mkdir -p "$lab/dev"
	for ((i = 0; i < gpus; i++)); do
		mknod -m 666 "$lab/dev/gpu$i" c 42 "$i" 2>/dev/null || rm -f "$lab/dev/gpu$i"
	done
	if (($1 == 1)); then
		: >"$lab/etc/gres.conf"
	elif [[ -c $lab/dev/gpu$((gpus - 1)) ]]; then
		echo "NodeName=$fat Name=gpu File=$lab/dev/gpu[0-$((gpus - 1))]" >"$lab/etc/gres.conf"
	else
		echo "NodeName=$fat Name=gpu Count=$gpus" >"$lab/etc/gres.conf"
	fi
	binds || echo "slurm-lab: $(without)"
}

# binding prints "yes" if jobs can be bound, "no" if this machine cannot bind, or "never" if this release cannot
# bind on such a machine.
binding() {
	if binds; then
		echo yes
	elif ! knows_unified && [[ ! $(hierarchy cpuset) && $(hierarchy cgroup2) ]]; then
		echo never
	else
		echo no
	fi
}

# without prints which features the lab lacks on this machine.
without() {
	local why="this machine has no control groups that can be written"
	[[ $(binding) != never ]] || why="Slurm $release knows no control groups of version 2, and this machine has no others"
	echo "$why: cores are bound by affinity alone, memory and devices are not bound, jobs have no extern step"
}

site_conf() {
	if binds; then
		cat <<-CONF
			ProctrackType=proctrack/cgroup
			TaskPlugin=task/cgroup,task/affinity
			JobAcctGatherType=jobacct_gather/cgroup
			PrologFlags=Contain
		CONF
	else
		cat <<-CONF
			ProctrackType=proctrack/linuxproc
			TaskPlugin=task/affinity
			JobAcctGatherType=jobacct_gather/none
		CONF
	fi
	cat <<CONF
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=$((memory_of_jobs / cpus))
GresTypes=gpu
AccountingStorageTRES=gres/gpu
AccountingStorageEnforce=associations,limits,qos
PriorityType=priority/multifactor
PriorityWeightFairshare=10000
PriorityWeightQOS=5000
PriorityWeightAge=1000
PriorityWeightPartition=500
PriorityWeightJobSize=100
CONF
}

# site_nodes NODES prints the number and the parameters of each node.
site_nodes() {
	local thin
	thin=$(thin "$1")
	seq -f "%.0f CPUs=$cpus RealMemory=$node_memory TmpDisk=2000 Feature=thin" "$thin"
	seq -f "%.0f CPUs=$cpus RealMemory=$node_memory TmpDisk=2000 Feature=fat Gres=gpu:$gpus" "$((thin + 1))" "$1"
}

# site_partitions NODES prints two partitions over the same nodes, as most sites have them: Accordion's partition
# and the site's own. Without the plug-in, other users' jobs that oversubscribe could use the cores of a job that
# may grow. Only ExclusiveUser prevents that.
site_partitions() {
	cat <<CONF
PartitionName=main Nodes=n[1-$1] Default=YES MaxTime=INFINITE DefaultTime=10 OverSubscribe=YES:2 PriorityJobFactor=2 $(plugin_wanted || echo ExclusiveUser=YES) State=UP
PartitionName=shared Nodes=n[1-$1] MaxTime=INFINITE DefaultTime=10 OverSubscribe=NO PriorityJobFactor=1 State=UP
CONF
}

site_cgroup_conf() {
	cat <<CONF
CgroupMountpoint=$lab/cgroup
ConstrainCores=yes
ConstrainRAMSpace=yes
ConstrainDevices=yes
CONF
}

# accounts_file prints the file that sacctmgr loads. It has three accounts with shares of 10, 5 and 1, and every
# user of the lab in one of them, the first user in the first. For a plain lab it prints nothing.
accounts_file() {
	local i user account
	[[ $kind == site ]] || return 0
	echo "Cluster - 'lab':Fairshare=1:QOS='normal,high'"
	echo "Parent - 'root'"
	echo "User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1"
	echo "Account - 'phys':Description='phys':Organization='lab':Fairshare=10"
	echo "Account - 'chem':Description='chem':Organization='lab':Fairshare=5"
	echo "Account - 'cs':Description='cs':Organization='lab':Fairshare=1"
	for ((i = 0; i < ${#accounts[@]}; i++)); do
		account=${accounts[i]}
		echo "Parent - '$account'"
		while read -r user; do
			echo "User - '$user':DefaultAccount='$account':Fairshare=1"
		done < <(awk -v n="${#accounts[@]}" -v i="$i" '(NR - 1) % n == i' "$lab/etc/users")
	done
}

# add_accounts adds the cluster, the QOS high, accounts and users. It runs before slurmctld starts, because slurmctld
# refuses users without an association.
add_accounts() {
	{
		tool sacctmgr -Qi add qos high set priority=100 &&
			patience=120 tool sacctmgr -Qi load file="$lab/etc/accounts"
	} >"$lab/log/accounts.log" 2>&1 || failed accounts "could not be made"
}

# add_late_users adds users to a lab that already exists.
add_late_users() {
	local known user n=0
	known=$(tool sacctmgr -nP list user format=user)
	while read -r user; do
		if ! grep -qxF "$user" <<<"$known"; then
			tool sacctmgr -Qi add user "$user" account="${accounts[n % ${#accounts[@]}]}" >>"$lab/log/accounts.log" 2>&1 ||
				failed accounts "have no place for $user"
		fi
		n=$((n + 1))
	done <"$lab/etc/users"
}
