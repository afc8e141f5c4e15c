package hosts

// Script replaces a job's hosts file, /tmp/accordion-UID/NAME.hosts, by what stands on its standard input: NAME is its argument. It runs
// on the node of the job's script, as the job's user, and has no single quotes in it. The folder must be the user's own: /tmp is
// everybody's, and a folder or link that a stranger put there could lead the write elsewhere. Then it exits with StrangersFolder, and
// says so.
const Script = `umask 077; d=/tmp/accordion-$(id -u); mkdir -p "$d" 2>/dev/null; ` +
	`if [ -L "$d" ] || [ ! -d "$d" ] || [ ! -O "$d" ]; then echo "$d belongs to another user or is a link: remove it" >&2; exit 77; fi; ` +
	`cat >"$d/.$1.$$" && mv -f "$d/.$1.$$" "$d/$1.hosts"`

// StrangersFolder is Script's exit status when the folder is not the user's own.
const StrangersFolder = 77
