# shellcheck shell=bash disable=SC2154
# Functions of both labs. Sourced by slurm-lab and oar-lab, which set $me (their name), $lab (the lab's directory),
# and a variable that users set.

die() {
	echo "$me: $*" >&2
	exit 1
}

# wrong reports a wrong command line and exits with status 2.
wrong() {
	echo "$me: $* ('$me help' shows the commands)" >&2
	exit 2
}

# within SECONDS COMMAND... repeats the command until it succeeds. It returns status 1 after the time.
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		pause
	done
}

# pause waits between two checks of a condition that has no event. It starts no program, because booting labs make
# thousands of checks. Before Bash 5.2 the alarm of `read -t` may fire before the read begins, and then the read
# never ends. A lab of 20.11 hung for this reason.
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 502)); then
	pause() { sleep 0.05; }
else
	pause() { read -rt 0.05 <> <(:) || :; }
fi

# value_of NAME FILE prints a value from a file of lines NAME=VALUE. It is called so often that it starts no program.
value_of() {
	local line
	while read -r line; do
		[[ $line != "$1="* ]] || echo "${line#*=}"
	done <"$2"
}

# check_directory VARIABLE checks the lab's directory. VARIABLE is the variable that sets it. The sockets of
# daemons are below this directory, and the path of a socket may have at most 107 characters.
check_directory() {
	[[ $lab == /* && $lab != / && $lab =~ ^[A-Za-z0-9/._-]+$ ]] ||
		wrong "$1=$lab: want an absolute path of letters, digits and / . _ -"
	((${#lab} <= 80)) || wrong "$1=$lab: a socket below it needs a path of at most 80 characters"
	[[ ! -L $lab && (! -e $lab || -d $lab && -O $lab) ]] || # every user can write to /var/tmp
		wrong "$1=$lab belongs to another user or is a link: give another directory"
}

# print_path DIRECTORIES prints a line of shell code that puts the directories at the beginning of PATH. If the
# line is evaluated repeatedly, it puts them there only once.
print_path() {
	# The single quotes are intended: the caller expands PATH.
	# shellcheck disable=SC2016
	printf 'case :$PATH: in *:%q:*) ;; *) export PATH=%q:$PATH ;; esac\n' "$1" "$1"
}

# put_program FILE copies Accordion's program to a file, built from the current state of this repository. Linking
# takes 3 s of CPU time. Therefore a built program is kept for the repository, labs copy it, and it is built again
# only when the code has changed. Checking for changes takes half a second. If LAB_PROGRAM_SINCE is a Unix time, a
# program that was checked after that time is used without a new check.
put_program() {
	local kept
	kept=$(go env GOCACHE)/accordion-labs/$(sha256sum <<<"$repo" | cut -c1-16) || return
	mkdir -p "$kept"
	(
		flock -w 600 9 && made_new "$kept" && cp "$kept/accordion" "$1.new" && mv -f "$1.new" "$1"
	) 9>"$kept/lock"
}

made_new() {
	local seen
	seen=$(stat -c %Y "$1/seen" 2>/dev/null) || seen=0
	[[ ${LAB_PROGRAM_SINCE:-} =~ ^[0-9]+$ ]] && ((seen > LAB_PROGRAM_SINCE)) && return
	go -C "$repo" build -o "$1/accordion" ./cmd/accordion && touch "$1/seen"
}
