# shellcheck shell=bash disable=SC2154
# The sidecar of both labs, in their world. The configuration of each cluster is that of oar-lab or slurm-lab.
# Sourced by two-labs, after lab/oar/sidecar.sh, which starts and ends it.

write_config() {
	mkdir -p "$lab"/{oar,slurm}/journal
	oar_config >"$lab/etc/oar.toml"
	slurm_config >"$lab/etc/slurm.toml"
	list_config | put_config
}

# oar_config prints the configuration with the socket at which jobs expect it.
oar_config() (
	lab=$lab/oar
	sidecar_config
)

slurm_config() (
	lab=$lab/slurm
	port=16800
	# shellcheck source=../../slurm/config.sh
	. "$here/lab/slurm/config.sh"
	# shellcheck source=../../slurm/sidecar.sh
	. "$here/lab/slurm/sidecar.sh"
	sidecar_config
)

list_config() {
	cat <<-CONF
		[[cluster]]
		config = "$lab/etc/oar.toml"
		name = "oar"
		site = "here"

		[[cluster]]
		config = "$lab/etc/slurm.toml"
		name = "slurm"
		site = "here"

		[[link]]
		between = ["oar", "slurm"]
		latency = "1ms"
	CONF
	[[ -z ${TWO_LABS_DELEGATE:-} ]] || printf '\n[delegate]\njournal = "%s"\n%s\n' "$lab/delegate/journal.db" "$TWO_LABS_DELEGATE"
}

# sidecar_answers does for both clusters what oar-lab's function of that name does for one.
sidecar_answers() {
	[[ -s $lab/accordion.pid ]] || return 1
	! sidecar_runs || {
		in_world test /run/accordion/accordion.sock -nt "$lab/accordion.pid" && in_world test "$lab/slurm/run/accordion.sock" -nt "$lab/accordion.pid" &&
			in_world /run/lab/bin/accordion status --cluster oar && in_world /run/lab/bin/accordion status --cluster slurm
	}
}
