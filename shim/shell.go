package shim

import (
	"fmt"
	"strings"
)

// quote quotes any text as one word of a POSIX shell. Between single quotes, only a single quote has a meaning. quote
// leaves out zero bytes, which neither an environment nor a command line can contain. It uses no library.
// go-shellquote quotes neither "#" nor ":~", which a shell may read as a comment or a home folder. mvdan.cc/sh refuses
// line ends and invalid UTF-8.
func quote(text string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "\x00", "").Replace(text) + "'"
}

// script is text for a POSIX shell (sh, dash, bash, zsh, ksh). It changes the shell's environment and ends with a
// status.
type script struct{ b strings.Builder }

// export sets a variable for the shell and for the programs that it starts.
func (s *script) export(name, value string) {
	fmt.Fprintf(&s.b, "export %s=%s\n", name, quote(value))
}

// unset removes a variable.
func (s *script) unset(name string) { fmt.Fprintf(&s.b, "unset %s\n", name) }

// end returns the whole text. Its last command exits with the status, and so does an eval of the text. The command is a subshell, so that
// the shell itself continues.
func (s *script) end(status int) string {
	if status != 0 {
		fmt.Fprintf(&s.b, "(exit %d)\n", status)
	}
	return s.b.String()
}

// atEnd makes the shell run a command when it ends. If the user has set an EXIT trap, that trap stays and the command does not run.
//
// The shell prints its traps into a file, which must be writable, because some shells do not print them in a subshell. The file is removed
// only when the shell ends. Starting rm earlier would take up to a second on a busy machine, and the user's code must begin without delay
// on all clusters. Only if the user has a trap, rm runs immediately.
func (s *script) atEnd(command, file string) {
	f := quote(file)
	fmt.Fprintf(&s.b, `trap >%[1]s
while IFS= read -r ACCORDION_TRAP; do case $ACCORDION_TRAP in *' EXIT') break;; esac; done <%[1]s
case $ACCORDION_TRAP in
*' EXIT') rm -f %[1]s;;
*) trap %[2]s EXIT;;
esac
unset ACCORDION_TRAP
`, f, quote(command+"; rm -f "+f))
}
