# shellcheck shell=bash disable=SC2154
# The sidecar over both labs, in their world. What each cluster's configuration says is what oar-lab and slurm-lab would say. Sourced by
# two-labs.

serve() {
	if sidecar_runs; then
		echo "two-labs: the sidecar runs already"
		return
	fi
	mkdir -p "$lab"/{oar,slurm}/journal "$lab/oar/own/etc/accordion"
	oar_config >"$lab/etc/oar.toml"
	slurm_config >"$lab/etc/slurm.toml"
	list_config >"$lab/oar/own/etc/accordion/accordion.toml" # where those in the world see /etc
	(inside timeout 60 /run/lab/bin/accordion oar install --epilogue >>"$lab/log/accordion.log" 2>&1 6<&-) ||
		die "accordion oar install --epilogue failed: $(tail -n 3 "$lab/log/accordion.log")"
	rm -f "$lab/accordion.pid" # of one that was killed: it would be taken for this one, and this one for dead
	# The shell becomes the sidecar, so that its number is the sidecar's, as those in the world see it.
	# shellcheck disable=SC2016
	(inside setsid env -i "PATH=/run/lab/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" LANG=C.UTF-8 \
		/bin/sh -c 'echo $$ >"$0"; exec "$@"' "$lab/accordion.pid" /run/lab/bin/accordion serve) \
		>>"$lab/log/accordion.log" 2>&1 </dev/null 6<&- &
	disown
	within 60 sidecar_answers || die "the sidecar does not answer: $(tail -n 5 "$lab/log/accordion.log")"
	sidecar_runs || die "the sidecar ended at once: $(tail -n 5 "$lab/log/accordion.log")"
	echo "two-labs: the sidecar serves (log: $lab/log/accordion.log)"
}

# oar_config: with the socket where jobs look for it.
oar_config() (
	lab=$lab/oar
	# shellcheck source=../sidecar.sh
	. "$here/lab/oar/sidecar.sh"
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

# in_world COMMAND...: runs it there, with its output kept away.
in_world() { (inside timeout 10 "$@" >/dev/null 2>&1 6<&-); }

# sidecar_runs: a process of that number does, and is the sidecar (numbers are used again).
sidecar_runs() {
	local pid
	pid=$(cat "$lab/accordion.pid" 2>/dev/null) || return 1
	[[ $pid =~ ^[0-9]+$ ]] && in_world grep -qzxF serve "/proc/$pid/cmdline"
}

# sidecar_answers, of both clusters: one that has ended will not, and need not be waited for.
sidecar_answers() {
	[[ -s $lab/accordion.pid ]] || return 1
	! sidecar_runs || {
		in_world test -S /run/accordion/accordion.sock && in_world test -S "$lab/slurm/run/accordion.sock" &&
			in_world /run/lab/bin/accordion status --cluster oar && in_world /run/lab/bin/accordion status --cluster slurm
	}
}

stop_sidecar() {
	local signal=TERM
	case ${1:-} in
	'') ;;
	--kill) signal=KILL ;;
	*) wrong "serve-stop: $1 is not known" ;;
	esac
	if sidecar_runs; then
		in_world kill "-$signal" "$(cat "$lab/accordion.pid")" || true
		within 30 sidecar_ended || die "the sidecar does not end"
	fi
	rm -f "$lab/accordion.pid"
}

sidecar_ended() { ! sidecar_runs; }

sidecar_status() {
	if sidecar_runs; then
		echo "accordion runs"
	elif [[ -e $lab/accordion.pid ]]; then
		echo "accordion does not run: see $lab/log/accordion.log"
		return 1
	else
		echo "accordion is not started ('two-labs serve')"
	fi
}
