# shellcheck shell=bash disable=SC2154
# The world of both labs, which is OAR's. Slurm runs in it like on a machine. Sourced by two-labs.

# oar_lab COMMAND...
oar_lab() { OAR_LAB_DIR=$lab/oar OAR_LAB_SLOT=$slot "$here/oar-lab" "$@" 6<&-; }

# slurm_lab COMMAND... runs slurm-lab's command in OAR's world while that world exists. Otherwise it runs the
# command on the machine, to remove what is left. No other lab has the same ports.
slurm_lab() {
	local place=()
	lives && place=(inside)
	("${place[@]}" env "SLURM_LAB_DIR=$lab/slurm" SLURM_LAB_PORT=16800 "$here/slurm-lab" "$@" 6<&-)
}

# lives returns status 0 if the world's first process lives and belongs to this lab (process numbers are reused).
lives() {
	local pid
	{ read -r pid <"$lab/oar/init"; } 2>/dev/null && [[ $pid =~ ^[0-9]+$ && ! /proc/$pid/ns/pid -ef /proc/self/ns/pid ]] &&
		[[ -e /proc/$pid/root$lab/oar/init && $(<"/proc/$pid/root$lab/oar/init") == "$pid" ]]
}

# inside COMMAND... becomes the command, in the world.
inside() { exec nsenter --target "$(<"$lab/oar/init")" --mount --net --pid --uts --ipc -- "$@"; }

# second_address adds an address other than 127.0.0.1, because Slurm's programs resolve names only if an interface
# has such an address.
second_address() { (inside ip address add 192.0.2.1/32 dev lo) || die "the loopback device gets no second address"; }
