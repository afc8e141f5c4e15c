# shellcheck shell=bash disable=SC2154
# The world of both labs, which is that of OAR's: Slurm's lives in it as it does on a machine. Sourced by two-labs.

# oar_lab COMMAND...
oar_lab() { OAR_LAB_DIR=$lab/oar OAR_LAB_SLOT=$slot "$here/oar-lab" "$@" 6<&-; }

# slurm_lab COMMAND...: in OAR's world while that lives; what is left of it else, on the machine. Nobody else has the ports there.
slurm_lab() {
	local place=()
	lives && place=(inside)
	("${place[@]}" env "SLURM_LAB_DIR=$lab/slurm" SLURM_LAB_PORT=16800 "$here/slurm-lab" "$@" 6<&-)
}

# lives: status 0 if the first process of the world does, and is ours (process numbers are used again).
lives() {
	local pid
	{ read -r pid <"$lab/oar/init"; } 2>/dev/null && [[ $pid =~ ^[0-9]+$ && ! /proc/$pid/ns/pid -ef /proc/self/ns/pid ]] &&
		[[ -e /proc/$pid/root$lab/oar/init && $(<"/proc/$pid/root$lab/oar/init") == "$pid" ]]
}

# inside COMMAND...: becomes the command, in the world.
inside() { exec nsenter --target "$(<"$lab/oar/init")" --mount --net --pid --uts --ipc -- "$@"; }

# second_address: Slurm's programs look a name up only where an interface has an address that is not 127.0.0.1.
second_address() { (inside ip address add 192.0.2.1/32 dev lo) || die "the loopback device gets no second address"; }
