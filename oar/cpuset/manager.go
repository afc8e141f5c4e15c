package cpuset

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"accordion/oar/conf"
	"accordion/oar/server"
)

// manager is OAR's job resource manager, sent to nodes as OAR's own programs send it: a Perl program, and what it has to know of the
// job.
type manager struct {
	conf  conf.Manager
	nodes server.Remote
	log   hclog.Logger
}

// What it can be asked for.
const (
	MakeReady = "init"  // makes the job's cpuset, its files and its key
	MakeClean = "clean" // ends what runs in the cpuset, and takes all of that away
)

// managedAtOnce is how many nodes it is sent to at once: each costs a process here.
const managedAtOnce = 32

// send sends the manager to some nodes, and gives those on which it failed, by name. The error is that it was sent nowhere.
func (m manager) send(ctx context.Context, what string, hosts []string, job map[string]any) ([]BadNode, error) {
	program, err := os.ReadFile(m.conf.File)
	if err != nil {
		return nil, fmt.Errorf("OAR's job resource manager cannot be read: %w", err)
	}
	input := string(program) + "__END__\n" + perl(job)
	var all errgroup.Group
	all.SetLimit(managedAtOnce)
	var mu sync.Mutex
	var bad []BadNode
	for _, host := range hosts {
		all.Go(func() error {
			out, err := m.nodes.Run(ctx, host, fmt.Sprintf("TAKTUK_HOSTNAME=%s perl - %s", server.Quote(host), what), input, Quickly)
			if out != "" {
				m.log.Debug("OAR's job resource manager says", "asked", what, "node", host, "says", strings.TrimSpace(out))
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				bad = append(bad, BadNode{host, err})
			}
			return nil
		})
	}
	_ = all.Wait() // none of them gives an error
	slices.SortFunc(bad, func(a, b BadNode) int { return strings.Compare(a.host, b.host) })
	return bad, nil
}

// Quickly is the option of ssh with which a node that is off is found to be so: its own is minutes.
const Quickly = "-oConnectTimeout=10"

// sshFailed is the exit status of an ssh that did not get through.
const sshFailed = 255
