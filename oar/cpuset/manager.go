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

// manager runs OAR's job resource manager on nodes. Like OAR's own programs, it sends the Perl program to each node,
// followed by the description of the job.
type manager struct {
	conf  conf.Manager
	nodes server.Remote
	log   hclog.Logger
}

// The operations of the manager.
const (
	MakeReady = "init"  // make the job's cpuset, its files and its key
	MakeClean = "clean" // end the processes in the cpuset, and remove the cpuset, its files and its key
)

// managedAtOnce limits how many nodes are handled at the same time, because each takes a process on this host.
const managedAtOnce = 32

// send runs the manager on the hosts, and returns the hosts on which it failed, sorted by name. An error means that the manager was sent to
// no host.
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
			out, err := m.nodes.Run(ctx, host, fmt.Sprintf("TAKTUK_HOSTNAME=%s perl - %s", server.Quote(host), what), input, ConnectTimeout)
			if out != "" {
				m.log.Debug("output of OAR's job resource manager", "asked", what, "node", host, "says", strings.TrimSpace(out))
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				bad = append(bad, BadNode{host, err})
			}
			return nil
		})
	}
	_ = all.Wait() // no goroutine returns an error
	slices.SortFunc(bad, func(a, b BadNode) int { return strings.Compare(a.host, b.host) })
	return bad, nil
}

// ConnectTimeout is an ssh option that detects a node that is off within ten seconds. The default takes minutes.
const ConnectTimeout = "-oConnectTimeout=10"

// sshFailed is the exit status of ssh when it could not connect.
const sshFailed = 255
