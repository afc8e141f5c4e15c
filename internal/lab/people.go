package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// people holds the users as whom client programs run. The tool's command `exec` sets an environment for each user,
// which is read only once. A test runs hundreds of client programs while it waits. The tool is a shell script and
// takes more CPU time than most of these programs.
type people struct {
	sync.Mutex
	known map[string]person
}

// person holds the settings of a user's client programs.
type person struct {
	uid, gid, groups string
	home             string
	env              []string
}

// meet returns the user with the given name. At the first call for a user it reads the settings with the tool.
func (lab *Lab) meet(ctx context.Context, user string) (person, error) {
	lab.people.Lock()
	defer lab.people.Unlock()
	if p, ok := lab.people.known[user]; ok {
		return p, nil
	}
	out, errs, err := outputs(lab.command(ctx, as(user, []string{"sh", "-c", "id -u; id -g; id -G; pwd; exec env -0"})...), "")
	if err != nil {
		return person{}, fmt.Errorf("who is %s: %w: %s", user, err, errs)
	}
	words := strings.SplitN(out, "\n", 5)
	if len(words) < 5 {
		return person{}, fmt.Errorf("who is %s: the tool's exec printed %q, want numbers, groups, a directory and an environment", user, out)
	}
	p := person{uid: words[0], gid: words[1], groups: strings.Join(strings.Fields(words[2]), ","), home: words[3],
		env: strings.Split(strings.TrimRight(words[4], "\x00"), "\x00")}
	if lab.people.known == nil {
		lab.people.known = map[string]person{}
	}
	lab.people.known[user] = p
	return p, nil
}

// as returns the arguments with which slurm-lab or oar-lab runs a command as the user.
func as(user string, command []string) []string {
	return append([]string{"exec", "--user", user, "--"}, command...)
}

// world returns the number of the first process in the lab's world, and the namespaces of that world. The number is
// "" if the lab runs on the machine itself.
func (lab *Lab) world() (first string, namespaces []string, err error) {
	file := lab.init
	namespaces = []string{"--mount", "--net", "--pid", "--uts", "--ipc"}
	if _, err := os.Stat(filepath.Join(lab.Dir, "world")); err == nil { // only a Slurm of another release has this file
		file, namespaces = "world/init", append(namespaces, "--cgroup")
	}
	if file == "" {
		return "", nil, nil
	}
	text, err := os.ReadFile(filepath.Join(lab.Dir, file))
	if err != nil {
		return "", nil, fmt.Errorf("lab: which is the first process of its world: %w", err)
	}
	return strings.TrimSpace(string(text)), namespaces, nil
}

// callAs runs a client command as the user, in the user's directory, and returns standard output and standard
// error. `text` is the standard input.
func (lab *Lab) callAs(patience time.Duration, user, text string, command []string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	p, err := lab.meet(ctx, user)
	if err != nil {
		return "", "", err
	}
	words := []string{"setpriv", "--reuid", p.uid, "--regid", p.gid, "--groups", p.groups, "--"}
	first, namespaces, err := lab.world()
	if err != nil {
		return "", "", err
	}
	if first != "" {
		words = append(append([]string{"nsenter", "--target", first}, namespaces...), append([]string{"--"}, words...)...)
		words = append(words, "sh", "-c", `cd "$0" && exec "$@"`, p.home)
	}
	c := exec.CommandContext(ctx, words[0], append(words[1:], command...)...)
	c.Env, c.WaitDelay = p.env, 5*time.Second
	if first == "" {
		c.Dir = p.home
	}
	return outputs(c, text)
}
