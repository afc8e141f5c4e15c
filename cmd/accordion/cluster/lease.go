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

// machineID is a file with an ID of the Linux installation. Two hosts with the same name have different IDs.
const machineID = "/etc/machine-id"

// LeaseFor returns the lease of a sidecar that has the journal and runs on this host. A restarted sidecar with the
// same journal takes its own lease again, because the journal's lock shows that the earlier process has ended.
func (c *Cluster) LeaseFor(journal string, length time.Duration) (sidecar.Lease, error) {
	if c.Leaser == nil {
		return sidecar.Lease{}, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return sidecar.Lease{}, fmt.Errorf("read this host's name for the lease: %w", err)
	}
	machine, _ := os.ReadFile(machineID) // without the file, the host's name alone identifies the host
	id := sha256.Sum256([]byte(strings.Join([]string{host, strings.TrimSpace(string(machine)), journal}, "\n")))
	holder := adapter.Holder{ID: fmt.Sprintf("%x", id[:8]), Host: host, PID: os.Getpid(), Journal: journal}
	return sidecar.Lease{Leaser: c.Leaser, Claim: adapter.Claim{Holder: holder, Length: length}}, nil
}

// trialLease is the longest time for which a trial holds the lease.
const trialLease = 5 * time.Minute

// holdLease takes the lease, so that no sidecar starts on any host until `leave` is called.
func (c *Cluster) holdLease(ctx context.Context, purpose string) (leave func(), err error) {
	lease, err := c.LeaseFor(purpose, trialLease)
	if err != nil || lease.Leaser == nil {
		return func() {}, err
	}
	leave = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Deadline)
		defer cancel()
		_ = lease.Leaser.LeaveLease(ctx, lease.Claim.Holder, 0) // if this fails, the lease expires
	}
	if err := lease.Leaser.TakeLease(ctx, lease.Claim); err != nil {
		if ctx.Err() != nil { // the batch system may have granted the lease although the call was canceled
			leave()
		}
		return nil, err
	}
	return leave, nil
}
