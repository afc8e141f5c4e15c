// Package shell writes words for a POSIX shell, and splits a command into them.
package shell

import "strings"

// Quote makes one word of any text: between single quotes nothing has a meaning but their end. A zero byte, which neither an
// environment nor a command line can hold, is left out.
func Quote(text string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "\x00", "").Replace(text) + "'"
}
