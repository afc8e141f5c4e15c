# shellcheck shell=bash disable=SC2154
# The sidecar in the lab. Sourced by slurm-lab.

serve() {
	if running accordion; then
		echo "slurm-lab: the sidecar runs already ($(cat "$lab/run/accordion.pid"))"
		return
	fi
	sidecar_config >"$lab/etc/accordion.toml"
	client_env
	# The shell becomes the sidecar, so that its number is the sidecar's.
	# shellcheck disable=SC2016
	daemon accordion /bin/sh -c 'echo $$ >"$0"; exec "$@"' "$lab/run/accordion.pid" \
		"$lab/bin/accordion" serve --config "$lab/etc/accordion.toml" &
	within 30 sidecar_answers || failed accordion "does not answer"
	running accordion || failed accordion "ended at once"
}

sidecar_answers() { [[ -S $lab/run/accordion.sock ]] || ! running accordion; }

sidecar_config() {
	cat <<CONF
# Written by slurm-lab.
CONF
}

stop_sidecar() {
	case ${1:-} in
	'') stop accordion TERM ;;
	--kill) stop accordion KILL ;;
	*) wrong "serve-stop: $1 is not known" ;;
	esac
}
