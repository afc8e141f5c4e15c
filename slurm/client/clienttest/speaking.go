// Package clienttest provides client programs for tests: shell scripts, a scontrol script that works as a console,
// and a simulated Slurm.
package clienttest

import (
	"os"
	"path/filepath"
	"testing"
)

// Programs returns a directory with the shell scripts. The key of each script is the name of the Slurm program that
// it replaces.
func Programs(t testing.TB, scripts map[string]string) string {
	t.Helper()
	bin := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// Speaking returns the script of a scontrol that carries out commands from its standard input, like Slurm's own
// scontrol. `answer` is shell code that prints the answer to the command in $line. The script appends each command
// to the file `log` in `dir`, and the number of each process to the file `programs`.
func Speaking(dir, answer string) string {
	return `if [ "$*" != "--oneliner --all" ]; then line="alone $*"; echo "$line" >>` + dir + `/log; ` + "\n" + answer + `; exit; fi
echo $$ >>` + dir + `/programs
printf 'scontrol: '
while read -r line; do
	printf '%s\n' "$line"
	case $line in
	"show hostlist "*) printf '%s\n' "${line##* }" ;;
	*" "* | reconfigure) echo "$line" >>` + dir + `/log
	` + answer + ` ;;
	*) echo "invalid keyword: $line" >&2 ;;
	esac
	printf 'scontrol: '
done`
}
