package oar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"
)

// manager is OAR's job resource manager, sent to nodes as OAR's own programs send it: a Perl program, and what it has to know of the
// job.
type manager struct {
	conf  Manager
	nodes remote
	log   hclog.Logger
}

// What it can be asked for.
const (
	makeReady = "init"  // makes the job's cpuset, its files and its key
	makeClean = "clean" // ends what runs in the cpuset, and takes all of that away
)

// managedAtOnce is how many nodes it is sent to at once: each costs a process here.
const managedAtOnce = 32

// A badNode says why a node could not be made ready, or clean.
type badNode struct {
	host string
	err  error
}

// send sends the manager to some nodes, and gives those on which it failed, by name. The error is that it was sent nowhere.
func (m manager) send(ctx context.Context, what string, hosts []string, job map[string]any) ([]badNode, error) {
	program, err := os.ReadFile(m.conf.File)
	if err != nil {
		return nil, fmt.Errorf("OAR's job resource manager cannot be read: %w", err)
	}
	input := string(program) + "__END__\n" + perl(job)
	var all errgroup.Group
	all.SetLimit(managedAtOnce)
	var mu sync.Mutex
	var bad []badNode
	for _, host := range hosts {
		all.Go(func() error {
			out, err := m.nodes.run(ctx, host, fmt.Sprintf("TAKTUK_HOSTNAME=%s perl - %s", quote(host), what), input, quickly)
			if out != "" {
				m.log.Debug("OAR's job resource manager says", "asked", what, "node", host, "says", strings.TrimSpace(out))
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				bad = append(bad, badNode{host, err})
			}
			return nil
		})
	}
	_ = all.Wait() // none of them gives an error
	slices.SortFunc(bad, func(a, b badNode) int { return strings.Compare(a.host, b.host) })
	return bad, nil
}

// quickly is the option of ssh with which a node that is off is found to be so: its own is minutes.
const quickly = "-oConnectTimeout=10"

// answered says whether the node was reached, and what ran there failed.
func (b badNode) answered() bool {
	var exit *exec.ExitError
	return errors.As(b.err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() != sshFailed
}

// sshFailed is the exit status of an ssh that did not get through.
const sshFailed = 255
