package srun

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// helpTimeout limits the call of srun --help.
const helpTimeout = 10 * time.Second

var helpText = sync.OnceValue(func() string {
	ctx, cancel := context.WithTimeout(context.Background(), helpTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, "srun", "--help")
	c.WaitDelay = time.Second
	out, _ := c.CombinedOutput() // if this fails, the option counts as unknown, and the user gets that error
	return string(out)
})

// Help looks up an option that is not in our table in the output of srun --help. A cluster's plug-ins may add options.
func Help(name string) (Takes, bool) { return inHelp(helpText(), name) }

// inHelp finds an option in srun's help, where options are written as --name, --name=value or --name[=value].
func inHelp(help, name string) (Takes, bool) {
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		return 0, false
	}
	m := regexp.MustCompile(`(?m)^\s+(?:-\w, +)?--` + name + `(\[?=|\s|$)`).FindStringSubmatch(help)
	switch {
	case m == nil:
		return 0, false
	case m[1] == "=":
		return Value, true
	case m[1] == "[=":
		return Perhaps, true
	}
	return Nothing, true
}
