// Package clienttest is a scontrol for tests: a shell script that speaks as Slurm's does.
package clienttest

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
