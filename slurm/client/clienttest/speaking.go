// Package clienttest is client programs for tests: shell scripts, and among them a scontrol that speaks as Slurm's does.
package clienttest

import (
	"os"
	"path/filepath"
	"testing"
)

// Programs is a folder with shell scripts as Slurm's programs, by name.
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

// Speaking is the text of a scontrol that carries out commands of its standard input as Slurm's does: %s is the answer to a
// command, which is in $line. Each command is a line of the file log in the folder, each program one of the file programs.
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
