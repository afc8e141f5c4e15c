# shellcheck shell=bash disable=SC2154
# The sidecar in the lab's world. OAR, its socket and its configuration have the same paths as on a site. oar-lab
# and two-labs source this file. two-labs has its own write_config and sidecar_answers. The processes that are
# started here must not inherit the caller's lock on the lab (descriptor 6).

serve() {
	if sidecar_runs; then
		echo "$me: the sidecar runs already"
		return
	fi
	write_config
	(inside timeout 60 /run/lab/bin/accordion oar install --epilogue >>"$lab/log/accordion.log" 2>&1 6<&-) ||
		die "accordion oar install --epilogue failed: $(tail -n 3 "$lab/log/accordion.log")"
	rm -f "$lab/accordion.pid" # a file of a killed sidecar would make this sidecar look dead
	# The umask is that of the unit (examples/systemd). The shell becomes the sidecar. So the shell's process
	# number, as seen in the lab's world, is the sidecar's.
	# shellcheck disable=SC2016
	(inside setsid env -i "PATH=/run/lab/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" LANG=C.UTF-8 \
		/bin/sh -c 'umask 077; echo $$ >"$0"; exec "$@"' "$lab/accordion.pid" /run/lab/bin/accordion serve) \
		>>"$lab/log/accordion.log" 2>&1 </dev/null 6<&- &
	disown
	within 60 sidecar_answers || die "the sidecar does not answer: $(tail -n 5 "$lab/log/accordion.log")"
	sidecar_runs || die "the sidecar ended at once: $(tail -n 5 "$lab/log/accordion.log")"
	echo "$me: the sidecar serves (log: $lab/log/accordion.log)"
}

write_config() {
	mkdir -p "$lab/journal"
	sidecar_config | put_config
}

# put_config writes the configuration to the lab's own /etc, where the sidecar expects it.
put_config() { in_world mkdir -p /etc/accordion && in_world tee /etc/accordion/accordion.toml; }

# sidecar_config prints the differences from the defaults. Steps of a job in a lab may last only some seconds.
sidecar_config() {
	cat <<-CONF
		cluster = "lab"
		system = "oar"
		[plan]
		start_lead = "1s"
		[limits]
		shortest_step = "0s"
		[journal]
		path = "$lab/journal/journal.db"
		[log]
		level = "debug"
	CONF
}

# in_world COMMAND... runs the command in the lab's world, without output.
in_world() { (inside timeout 10 "$@" >/dev/null 2>&1 6<&-); }

# sidecar_runs returns status 0 if the process with that number is the sidecar (numbers are reused).
sidecar_runs() {
	local pid
	pid=$(cat "$lab/accordion.pid" 2>/dev/null) || return 1
	[[ $pid =~ ^[0-9]+$ ]] && in_world grep -qzxF serve "/proc/$pid/cmdline"
}

# sidecar_answers returns status 0 if the sidecar answers or has ended. The socket must be the running sidecar's
# own, because a killed sidecar leaves a socket, and root's `accordion status` then reads the journal.
sidecar_answers() {
	[[ -s $lab/accordion.pid ]] || return 1
	! sidecar_runs || { in_world test /run/accordion/accordion.sock -nt "$lab/accordion.pid" && in_world /run/lab/bin/accordion status; }
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
		echo "accordion is not started ('$me serve')"
	fi
}
