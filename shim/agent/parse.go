package agent

import (
	"errors"
	"fmt"
	"strings"
)

// Call is a parsed command line of ssh.
type Call struct {
	Host    string
	User    string // "" if none is given
	Command string // command line for a shell
	NoInput bool   // -n
}

// The options of ssh, from OpenSSH's manual.
const (
	flags  = "1246AaCfGgKkMNnqsTtVvXxYy"
	valued = "BbcDEeFIiJLlmOoPpQRSWw"
)

// Parse parses the arguments that a launcher gives to ssh: options, a host and a command. Only the options for the user and for the input
// have an effect. Long options are ignored: ssh has none, but Slurm makes launchers add one that is meant for srun (--external-launcher).
func Parse(arguments []string) (Call, error) {
	var c Call
	rest, err := c.options(arguments)
	if err != nil {
		return Call{}, err
	}
	if len(rest) == 0 {
		return Call{}, errors.New("which host? Write: accordion agent HOST COMMAND")
	}
	if user, host, named := strings.Cut(rest[0], "@"); named {
		c.User, c.Host = user, host
	} else {
		c.Host = rest[0]
	}
	if rest, err = c.options(rest[1:]); err != nil { // ssh also accepts options after the host
		return Call{}, err
	}
	c.Command = strings.Join(rest, " ")
	switch {
	case c.Host == "" || strings.HasPrefix(c.Host, "-"):
		return Call{}, errors.New("which host? Write: accordion agent HOST COMMAND")
	case c.Command == "":
		return Call{}, fmt.Errorf("which command on %s? An agent starts no interactive shell", c.Host)
	}
	return c, nil
}

// options parses the options at the front, and returns the other words.
func (c *Call) options(words []string) (rest []string, err error) {
	for len(words) > 0 {
		word := words[0]
		if len(word) < 2 || word[0] != '-' {
			return words, nil
		}
		words = words[1:]
		if word == "--" {
			return words, nil
		}
		if word[1] == '-' {
			continue
		}
		if words, err = c.bundle(word[1:], words); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// bundle parses the short options of one word. The value of the last option may be the next word.
func (c *Call) bundle(letters string, words []string) ([]string, error) {
	for i := range len(letters) {
		switch letter := letters[i]; {
		case letter == 'n':
			c.NoInput = true
		case strings.IndexByte(flags, letter) >= 0:
		case strings.IndexByte(valued, letter) >= 0:
			value := letters[i+1:]
			if value == "" {
				if len(words) == 0 {
					return nil, fmt.Errorf("-%c needs a value", rune(letter))
				}
				value, words = words[0], words[1:]
			}
			if letter == 'l' {
				c.User = value
			}
			return words, nil
		default:
			return nil, fmt.Errorf("ssh has no option -%c", rune(letter))
		}
	}
	return words, nil
}
