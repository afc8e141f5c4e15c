package slurm_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// clients is a folder of Slurm's client programs, for [slurm] bin, that run a hook before each call that changes
// something. So a test can kill the sidecar, or cancel a job, between any two calls of the sidecar or during a
// call.
type clients struct {
	t   *testing.T
	dir string
}

// clientScript replaces the program of the same name. A hook may run "$real" "$@" itself and exit, or return. If
// scontrol reads commands from its standard input, each command counts as a call: it runs the hook, and then a real
// scontrol runs the command. Calls about the lease run no hook, because they come at any time, between other calls.
//
// A hook must be able to kill the sidecar even in a program that the sidecar runs as the owner of a job. Therefore
// the shell keeps root's rights, but "$real" runs without them.
const clientScript = `#!SHELL -p
name=${0##*/} here=${0%/*} real=PROGRAM
[ "$(id -ru)" = 0 ] || real=$here/real/$name
case "$name $*" in
"scontrol --oneliner --all")
	set -f
	printf 'scontrol: '
	while read -r line; do
		printf '%s\n' "$line"
		case $line in
		"show hostlist "*) printf '%s\n' "${line##* }" ;;
		"show "* | "write "*) "$real" --oneliner --all $line </dev/null ;;
		*accordion-lease*) "$real" $line </dev/null ;;
		*" "* | reconfigure) (set -- $line; . "$here/hook"; exec "$real" "$@") </dev/null ;;
		*) echo "invalid keyword: $line" >&2 ;;
		esac
		printf 'scontrol: '
	done
	exit ;;
"scontrol --oneliner"* | "scontrol show"* | "scontrol write"* | *accordion-lease*) exec "$real" "$@" ;;
esac
[ "$(id -u)" = 0 ] || exec "$real" "$@" # another user can stop nothing
. "$here/hook"
exec "$real" "$@"
`

// openFolder returns a temporary folder that every user may enter, because Slurm's own user runs its programs, too.
func openFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func newClients(t *testing.T) *clients {
	t.Helper()
	c := &clients{t: t, dir: t.TempDir()}
	// Other users may run these programs but not list the folder, so that they cannot find root's shell.
	c.ok(os.Chmod(filepath.Dir(c.dir), 0o711))
	c.ok(os.Chmod(c.dir, 0o711))
	c.ok(os.Mkdir(filepath.Join(c.dir, "real"), 0o755))
	shell := c.rootsShell()
	for _, name := range []string{"squeue", "scontrol", "scancel", "salloc", "srun", "strigger"} {
		program, err := exec.LookPath(name)
		c.ok(err)
		path := filepath.Join(c.dir, name)
		if name == "squeue" { // squeue changes nothing
			c.ok(os.Symlink(program, path))
			continue
		}
		script := strings.NewReplacer("SHELL", shell, "PROGRAM", program).Replace(clientScript)
		c.ok(os.WriteFile(path, []byte(script), 0o711))
		c.ok(os.WriteFile(filepath.Join(c.dir, "real", name), fmt.Appendf(nil, "#!/bin/dash\nexec %s \"$@\"\n", program), 0o755))
	}
	c.hook(":")
	return c
}

// rootsShell returns a set-uid shell, which has root's rights for any user who runs it (with -p). The shell's
// name is random, so that other users do not know it.
func (c *clients) rootsShell() string {
	c.t.Helper()
	dash, err := os.ReadFile("/bin/dash")
	c.ok(err)
	file, err := os.CreateTemp(c.dir, "shell")
	c.ok(err)
	_, err = file.Write(dash)
	c.ok(errors.Join(err, file.Close()))
	c.ok(os.Chmod(file.Name(), 0o711|os.ModeSetuid))
	return file.Name()
}

func (c *clients) ok(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// setting returns the line of configuration with which a sidecar uses these clients.
func (c *clients) setting() string { return fmt.Sprintf("bin = %q", c.dir) }

// hook sets the hook, a shell text, from the next call on.
func (c *clients) hook(text string) {
	c.t.Helper()
	next := filepath.Join(c.dir, "hook.next")
	if err := os.WriteFile(next, []byte(text+"\n"), 0o644); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(c.dir, "hook")); err != nil { // atomically, for a call that reads it now
		c.t.Fatal(err)
	}
}

// A killPoint is the moment at which a sidecar is killed: at the n-th call that changes something, counted from its
// start.
type killPoint struct {
	when string // before, during (the call is still carried out) or after
	at   int
	call string // a shell pattern: only matching calls count; "" means all calls
}

func (d killPoint) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s call %d %s", d.when, d.at, d.call))
}

// killAt makes the hook kill its sidecar at the kill point. Each call of killAt restarts the count. The hook kills
// its parent only if that is an accordion process, because the process number of a dead parent may belong to
// another process.
func (c *clients) killAt(d killPoint) {
	c.t.Helper()
	_ = os.Remove(filepath.Join(c.dir, "count"))
	die := map[string]string{
		"before": `kill -9 "$PPID"; exit 1`,
		"during": `kill -9 "$PPID"; sleep 0.2; exec "$real" "$@"`,
		"after":  `"$real" "$@"; status=$?; kill -9 "$PPID"; exit $status`,
	}[d.when]
	if die == "" {
		c.t.Fatalf("no sidecar died there: %v", d)
	}
	c.hook(fmt.Sprintf(`n=0
case "$name $*" in
%s)
	exec 9>>"$here/lock"
	flock 9
	echo "$name $*" >>"$here/count"
	n=$(wc -l <"$here/count")
	exec 9>&- ;;
esac
if [ "$n" -eq %d ] && [ "$(cat "/proc/$PPID/comm")" = accordion ]; then
	echo "%s call %d: $name $*" >>"$here/deaths"
	%s
fi`, cmp.Or(d.call, "*"), d.at, d.when, d.at, die))
}

// deaths returns the calls at which sidecars were killed.
func (c *clients) deaths() []string {
	text, err := os.ReadFile(filepath.Join(c.dir, "deaths"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}
