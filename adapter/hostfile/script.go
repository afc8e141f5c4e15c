package hostfile

import "strings"

// Script replaces a job's hosts file, /tmp/accordion-UID/NAME.hosts, by its standard input; NAME is
// its argument. It runs on the node of the job's script, as the job's user. It must not contain
// single quotes.
//
// All users may write to /tmp, so another user may have made that folder first, or a link with its
// name. Then the script writes the file into a private folder /tmp/accordion-UID.XXXXXXXXXX, whose
// name mktemp chooses, and prints the path (Elsewhere). shim/allocation looks for the file in both
// folders. A folder is private if it is not a link, belongs to the user, and no other user may
// write to it. In /tmp only its owner can remove such a folder, so the folder stays private. If the
// script cannot create such a folder, it exits with NoFolder. It removes the user's hosts files
// that are older than 30 days. Nothing else removes the files of jobs that have ended.
const Script = `umask 077; u=$(id -u); d=/tmp/accordion-$u; ` +
	`own() { [ -n "$(find "$1" -prune -type d -user "$u" ! -perm -020 ! -perm -002 2>/dev/null)" ]; }; ` +
	`mkdir "$d" 2>/dev/null; ` +
	`if ! own "$d"; then for e in "$d".*; do own "$e" && break; e=; done; d=${e:-$(mktemp -d "$d.XXXXXXXXXX")}; own "$d" || exit 77; fi; ` +
	`cat >"$d/.$1.$$" && mv -f "$d/.$1.$$" "$d/$1.hosts" || exit 1; ` +
	`find "$d" -type f -name "*.hosts" -mtime +29 -exec rm -f {} + 2>/dev/null; ` +
	`[ "$d" = "/tmp/accordion-$u" ] || echo "elsewhere: $d/$1.hosts"`

// NoFolder is Script's exit status if there is no private folder and none can be created.
const NoFolder = 77

// Elsewhere returns the path of the hosts file from Script's output, and "" if it is in the usual
// place.
func Elsewhere(printed string) string {
	for line := range strings.Lines(printed) {
		if path, is := strings.CutPrefix(line, "elsewhere: "); is {
			return strings.TrimSpace(path)
		}
	}
	return ""
}
