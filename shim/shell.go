package shim

import (
	"fmt"
	"strings"
)

// quote returns one word of a POSIX shell for any text: between single quotes only their end has a meaning. It leaves out zero bytes,
// which neither an environment nor a command line can hold. Libraries write words that are shorter: go-shellquote's are comments after
// a "#" and home folders after ":~", and mvdan.cc/sh refuses line ends and bytes that are no UTF-8.
func quote(text string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "\x00", "").Replace(text) + "'"
}

// script is text for a POSIX shell (sh, dash, bash, zsh, ksh) that changes its environment and ends with a status.
type script struct{ b strings.Builder }

// export sets a variable, for the shell and for the programs it starts.
func (s *script) export(name, value string) {
	fmt.Fprintf(&s.b, "export %s=%s\n", name, quote(value))
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
