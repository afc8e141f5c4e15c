package oar

import (
	"context"
	"fmt"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"sync"
	"time"
)

// accounts knows users' numbers, which OAR does not keep: the application that asks for its next step is known by them.
type accounts struct {
	mu    sync.Mutex
	known map[string]account
}

type account struct {
	uid, gid uint32
	until    time.Time // when to look again
}

// Users' numbers hardly change; one that nobody knows may be made any time.
const (
	accountLasts   = 10 * time.Minute
	nobodysLasts   = 30 * time.Second
	nobody         = 65534
	accountsWithin = 5 * time.Second
)

func newAccounts() *accounts { return &accounts{known: map[string]account{}} }

// of is a user's number and group. Those of a name that the machine does not know are nobody's.
func (a *accounts) of(ctx context.Context, name string) (uid, gid uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	found, ok := a.known[name]
	if !ok || now.After(found.until) {
		uid, gid, err := lookup(ctx, name)
		found = account{uid, gid, now.Add(accountLasts)}
		if err != nil {
			found = account{nobody, nobody, now.Add(nobodysLasts)}
		}
		a.known[name] = found
	}
	return found.uid, found.gid
}

// lookup asks /etc/passwd and, for names that come from a directory service, getent.
func lookup(ctx context.Context, name string) (uid, gid uint32, err error) {
	if u, err := user.Lookup(name); err == nil {
		return ids(u.Uid, u.Gid)
	}
	ctx, cancel := context.WithTimeout(ctx, accountsWithin)
	defer cancel()
	out, err := exec.CommandContext(ctx, "getent", "--", "passwd", name).Output()
	if err != nil {
		return 0, 0, fmt.Errorf("looking for user %q: %w", name, err)
	}
	fields := strings.Split(strings.TrimSpace(string(out)), ":")
	if len(fields) < 4 {
		return 0, 0, fmt.Errorf("looking for user %q: getent says %q", name, out)
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
