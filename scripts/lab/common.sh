# shellcheck shell=bash disable=SC2154
# What both labs do alike. Sourced by slurm-lab and oar-lab, which are called $me, live in $lab and have said so in a variable of theirs.

die() {
	echo "$me: $*" >&2
	exit 1
}

# wrong is for a command line that cannot be meant: exit status 2.
wrong() {
	echo "$me: $* ('$me help' shows the commands)" >&2
	exit 2
}

# within SECONDS COMMAND...: tries the command until it succeeds; status 1 when the time is over.
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		pause
	done
}

# pause is as long as between two looks at what no event tells. It starts no program: labs that boot look thousands of times. Before
# Bash 5.2 the alarm of `read -t` may ring before it reads, and then it reads forever: a lab of 20.11 hung so.
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 502)); then
	pause() { sleep 0.05; }
else
	pause() { read -rt 0.05 <> <(:) || :; }
fi

# value_of NAME FILE: of a file of lines NAME=VALUE. It is asked for so often that it starts no program.
value_of() {
	local line
	while read -r line; do
		[[ $line != "$1="* ]] || echo "${line#*=}"
	done <"$2"
}

# check_directory VARIABLE: the lab's directory, which it names. Sockets of daemons lie below it, and a socket's path ends at 107
# characters.
check_directory() {
	[[ $lab == /* && $lab != / && $lab =~ ^[A-Za-z0-9/._-]+$ ]] ||
		wrong "$1=$lab: want an absolute path of letters, digits and / . _ -"
	((${#lab} <= 80)) || wrong "$1=$lab: a socket below it needs a path of at most 80 characters"
	[[ ! -L $lab && (! -e $lab || -d $lab && -O $lab) ]] || # every user can write to /var/tmp
		wrong "$1=$lab belongs to another user or is a link: give another directory"
}

# print_path DIRECTORIES: the line by which a shell finds programs there first, only once however often it is evaluated.
print_path() {
	# Single quotes on purpose: the caller's PATH.
	# shellcheck disable=SC2016
	printf 'case :$PATH: in *:%q:*) ;; *) export PATH=%q:$PATH ;; esac\n' "$1" "$1"
}

# put_program FILE: Accordion's program there, as it is in this repository now. Go links anew for each file that it writes, which takes 3 s
# of a processor: labs copy one that is kept for the repository, and linked again when the code has changed. To see that it has not takes
# another half: where LAB_PROGRAM_SINCE is a second since 1970, one that was seen to be new in a later second is.
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
