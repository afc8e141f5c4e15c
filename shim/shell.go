package shim

import (
	"fmt"
	"strings"

	"accordion/shim/shell"
)

// script is text for a POSIX shell (sh, dash, bash, zsh, ksh) that changes its environment and ends with a status.
type script struct{ b strings.Builder }

// export sets a variable, for the shell and for the programs it starts.
func (s *script) export(name, value string) {
	fmt.Fprintf(&s.b, "export %s=%s\n", name, shell.Quote(value))
}

// unset removes a variable.
func (s *script) unset(name string) { fmt.Fprintf(&s.b, "unset %s\n", name) }

// end is the whole text. Its last command has the status, so that what evaluates it has it too; a subshell sets it, so
// that the shell itself goes on.
func (s *script) end(status int) string {
	if status != 0 {
		fmt.Fprintf(&s.b, "(exit %d)\n", status)
	}
	return s.b.String()
}

// atEnd has a command run when the shell ends, unless it has one for that already: the user's own trap stays. The file is one that may be
// written: some shells show their traps to no subshell. It is removed at the end, for what comes after this text shall begin at once, on all
// clusters: on a busy machine it takes up to a second until a program runs. A user's own trap costs that one.
func (s *script) atEnd(command, file string) {
	f := shell.Quote(file)
	fmt.Fprintf(&s.b, `trap >%[1]s
while IFS= read -r ACCORDION_TRAP; do case $ACCORDION_TRAP in *' EXIT') break;; esac; done <%[1]s
case $ACCORDION_TRAP in
*' EXIT') rm -f %[1]s;;
*) trap %[2]s EXIT;;
esac
unset ACCORDION_TRAP
`, f, shell.Quote(command+"; rm -f "+f))
}
