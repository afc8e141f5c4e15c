package cluster

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/sidecar"
)

// machineID is a file that names an installation of Linux; two hosts of one name have two.
const machineID = "/etc/machine-id"

// leaseFor is the lease of a sidecar with the journal, on this host. Started again with the same one it takes its own lease back: the
// journal's lock says that the one before it is dead.
func (c *cluster) leaseFor(journal string, length time.Duration) (sidecar.Lease, error) {
	if c.leaser == nil {
		return sidecar.Lease{}, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return sidecar.Lease{}, fmt.Errorf("this host's name, which the cluster's lease bears: %w", err)
	}
	machine, _ := os.ReadFile(machineID) // where there is none, the name is all there is
	id := sha256.Sum256([]byte(strings.Join([]string{host, strings.TrimSpace(string(machine)), journal}, "\n")))
	holder := adapter.Holder{ID: fmt.Sprintf("%x", id[:8]), Host: host, PID: os.Getpid(), Journal: journal}
	return sidecar.Lease{Leaser: c.leaser, Claim: adapter.Claim{Holder: holder, Length: length}}, nil
}

// trialLease is how long a trial has the lease at most.
const trialLease = 5 * time.Minute

// holdLease keeps sidecars away, on whatever host, until leave is called.
func (c *cluster) holdLease(ctx context.Context, purpose string) (leave func(), err error) {
	lease, err := c.leaseFor(purpose, trialLease)
	if err != nil || lease.Leaser == nil {
		return func() {}, err
	}
	leave = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.deadline)
		defer cancel()
		_ = lease.Leaser.LeaveLease(ctx, lease.Claim.Holder, 0) // else it ends by itself
	}
	if err := lease.Leaser.TakeLease(ctx, lease.Claim); err != nil {
		if ctx.Err() != nil { // the batch system may have granted it all the same
			leave()
		}
		return nil, err
	}
	return leave, nil
}
