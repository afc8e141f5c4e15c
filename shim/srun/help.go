package srun

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// helpPatience bounds the call of srun --help.
const helpPatience = 10 * time.Second

var helpText = sync.OnceValue(func() string {
	ctx, cancel := context.WithTimeout(context.Background(), helpPatience)
	defer cancel()
	c := exec.CommandContext(ctx, "srun", "--help")
	c.WaitDelay = time.Second
	out, _ := c.CombinedOutput() // without it an option is not known, which is said
	return string(out)
})

// Help looks an option up that is not in our table in what srun --help says here: plug-ins of a site bring some.
func Help(name string) (Takes, bool) { return described(helpText(), name) }

// described finds an option in srun's own help, where it stands as --name, --name=value or --name[=value].
func described(help, name string) (Takes, bool) {
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
