package application

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kballard/go-shellquote"
)

// Arrange finds out from a command line where the parts of an application may run, and which commands submit them. `on` has the values of
// --on, NAME=COMMAND or NAME. `words` has the words after --. If `together` is set, the parts run on several clusters simultaneously, and
// Arrange checks that their scripts call accordion part. Errors are for the user.
func (o *Options) Arrange(on, words []string, together bool) error {
	o.Commands = map[string]Command{}
	for _, text := range on {
		name, command, batch := strings.Cut(text, "=")
		if name == "" {
			return fmt.Errorf("--on %q names no cluster: write --on NAME='sbatch … job.sh'", text)
		}
		for _, p := range o.Places {
			if p.Cluster == name {
				return fmt.Errorf("--on %s is there twice: an application has one part on a cluster", name)
			}
		}
		o.Places = append(o.Places, Place{name, batch})
		if !batch {
			continue
		}
		split, err := shellquote.Split(command)
		if err != nil {
			return fmt.Errorf("--on %s: %w", name, err)
		}
		c, ok := ReadCommand(split)
		if !ok {
			return fmt.Errorf("--on %s: neither sbatch nor oarsub is in %q", name, command)
		}
		o.Commands[name] = c
	}
	if err := o.arrangeWords(words); err != nil {
		return err
	}
	together = together && len(o.Places) > 1
	for _, p := range o.Places {
		if !p.Batch {
			continue
		}
		c := o.Commands[p.Cluster]
		if err := c.Check(together); err != nil {
			if p.Cluster != "" {
				err = fmt.Errorf("--on %s: %w", p.Cluster, err)
			}
			return err
		}
	}
	return nil
}

// arrangeWords handles the words after --. They are a command that submits a batch job to the only cluster, or a command for this host.
func (o *Options) arrangeWords(words []string) error {
	submitting := len(o.Commands)
	c, batch := ReadCommand(words)
	switch {
	case submitting > 0 && submitting < len(o.Places):
		return errors.New("--on with a command and --on without: a cluster that makes the parts itself has no batch jobs, and their work is on this host")
	case submitting > 0 && len(words) > 0:
		return fmt.Errorf("there are commands in --on, and %q behind --: leave one of the two out", words[0])
	case submitting > 0:
	case len(words) == 0:
		return errors.New("there is nothing to run: end with -- sbatch … job.sh, or say for each cluster --on NAME='sbatch … job.sh'")
	case batch && len(o.Places) > 1:
		return fmt.Errorf("several clusters and one command: say for each --on %s='…'", o.Places[0].Cluster)
	case batch && len(o.Places) == 1:
		o.Places[0].Batch = true
		o.Commands[o.Places[0].Cluster] = c
	case batch:
		o.Places = []Place{{"", true}}
		o.Commands[""] = c
	default:
		o.Work = words
	}
	return nil
}

// command returns the command that submits jobs to a cluster, or else the command that was given without a cluster.
func (o *Options) command(cluster string) Command {
	if c, named := o.Commands[cluster]; named {
		return c
	}
	return o.Commands[""]
}
