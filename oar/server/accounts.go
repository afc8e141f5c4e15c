package server

import (
	"context"
	"fmt"
	"math"
	"os/user"
	"strconv"
	"strings"
	"sync"
	"time"

	"accordion/adapter"
)

// Accounts looks up users' numeric IDs, which OAR does not store. The sidecar identifies a job that calls accordion step by its user ID.
type Accounts struct {
	Look  func(ctx context.Context, name string) (uid, gid uint32, err error)
	mu    sync.Mutex
	Known map[string]account
}

type account struct {
	uid, gid uint32
	Until    time.Time // when to look the user up again
}

// Users' IDs hardly change. A user that is unknown now may be created at any time.
const (
	accountLasts   = 10 * time.Minute
	strangerLasts  = 30 * time.Second
	accountsWithin = 5 * time.Second
)

// UnknownID is the ID of a user whose name the machine does not know. No process has this ID.
const UnknownID = math.MaxUint32

// NewAccounts returns accounts that ask this machine's directory of users.
func NewAccounts() *Accounts { return &Accounts{Look: Lookup, Known: map[string]account{}} }

// Of returns a user's ID and group ID. If the directory of users does not answer, it returns the IDs that it found before.
func (a *Accounts) Of(ctx context.Context, name string) (uid, gid uint32) {
	a.mu.Lock()
	last, ok := a.Known[name]
	a.mu.Unlock()
	if ok && time.Now().Before(last.Until) {
		return last.uid, last.gid
	}
	uid, gid, err := a.Look(ctx, name)
	found := account{uid, gid, time.Now().Add(accountLasts)}
	if err != nil {
		if found = last; !ok {
			found.uid, found.gid = UnknownID, UnknownID
		}
		found.Until = time.Now().Add(strangerLasts)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Known[name] = found
	return found.uid, found.gid
}

// Name sets a job's user and group IDs. Do not call it within a transaction: a directory of users may be slow, and OAR
// would wait for our locks.
func (a *Accounts) Name(ctx context.Context, job *adapter.Job) {
	job.UID, job.GID = a.Of(ctx, job.User)
}

// Lookup asks /etc/passwd and, for names from a directory service, getent.
func Lookup(ctx context.Context, name string) (uid, gid uint32, err error) {
	if u, err := user.Lookup(name); err == nil {
		return ids(u.Uid, u.Gid)
	}
	ctx, cancel := context.WithTimeout(ctx, accountsWithin)
	defer cancel()
	out, err := Program(ctx, "getent", "--", "passwd", name).Output()
	if err != nil {
		return 0, 0, fmt.Errorf("looking up user %q: %w", name, err)
	}
	fields := strings.Split(strings.TrimSpace(string(out)), ":")
	if len(fields) < 4 {
		return 0, 0, fmt.Errorf("looking up user %q: getent printed %q", name, out)
	}
	return ids(fields[2], fields[3])
}

func ids(uid, gid string) (uint32, uint32, error) {
	u, err := strconv.ParseUint(uid, 10, 32)
	if err != nil {
		return 0, 0, err
	}
	g, err := strconv.ParseUint(gid, 10, 32)
	return uint32(u), uint32(g), err
}
