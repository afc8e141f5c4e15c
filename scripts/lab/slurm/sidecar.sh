# shellcheck shell=bash disable=SC2154
# The sidecar in the lab. Sourced by slurm-lab.

serve() {
	if running accordion; then
		echo "slurm-lab: the sidecar runs already ($(cat "$lab/pid/accordion.pid"))"
		return
	fi
	sidecar_config >"$lab/etc/accordion.toml"
	client_env
	rm -f "$lab/pid/accordion.pid" # a file of a killed sidecar would make this sidecar look dead
	# The umask is that of the unit (examples/systemd). The shell becomes the sidecar, so that the shell's process number
	# is the sidecar's. The shell that waits for it must not keep the lab's lock, because serve-stop would wait for the
	# lock forever. It must not keep the caller's output either, because `serve | cat` would then wait, too.
	# shellcheck disable=SC2016
	daemon accordion /bin/sh -c 'umask 077; echo $$ >"$0"; exec "$@"' "$lab/pid/accordion.pid" \
		"$lab/bin/accordion" serve --config "$lab/etc/accordion.toml" 8<&- >/dev/null 2>&1 &
	within 60 test -s "$lab/pid/accordion.pid" || failed accordion "did not start"
	within 60 sidecar_answers || failed accordion "does not answer"
	running accordion || failed accordion "ended at once"
	echo "slurm-lab: the sidecar serves (log: $lab/log/accordion.log)"
}

# sidecar_answers returns status 0 if the sidecar answers or has ended. The socket must be the running sidecar's
# own, because a killed sidecar leaves a socket, and root's `accordion status` then reads the journal.
sidecar_answers() {
	! running accordion || { [[ $lab/run/accordion.sock -nt $lab/pid/accordion.pid ]] && tool "$lab/bin/accordion" status >/dev/null 2>&1; }
}

# lab_manage prints which jobs the sidecar and the plug-in manage: told or all.
lab_manage() { echo "${SLURM_LAB_MANAGE:-told}"; }

sidecar_config() {
	cat <<CONF
# Written by slurm-lab. Has only the differences from the defaults.
cluster = "lab"

[slurm]
partition = "main"
manage = "$(lab_manage)"
conf = "$lab/etc/slurm.conf"
limits = "$lab/etc/accordion_limits.lua"

[limits]
shortest_step = "0s"

[journal]
path = "$lab/journal/journal.db"

[session]
socket = "$lab/run/accordion.sock"
listen = "$(sidecar_address)"
munge_socket = "$lab/munge/socket"

[log]
level = "debug"
CONF
}

stop_sidecar() {
	case ${1:-} in
	'') stop accordion TERM ;;
	--kill) stop accordion KILL ;;
	*) wrong "serve-stop: $1 is not known" ;;
	esac
}
