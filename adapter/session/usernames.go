package session

import (
	"context"
	"fmt"
	"os/user"
	"strconv"
	"sync"
	"time"
)

// LookupUser returns the name of a user ID from the operating system (nsswitch), which may ask a
// directory on the network.
func LookupUser(uid uint32) (string, error) {
	u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	if err != nil {
		return "", err
	}
	return u.Username, nil
}

const (
	nameKept = 10 * time.Minute // how long a name is cached; a renamed user has the old name for at most this time
	// NamePatience is how long UserNames.Name waits for a directory of users.
	NamePatience = 5 * time.Second
)

// UserNames caches the names of users, and runs at most one lookup for each user at a time.
type UserNames struct {
	lookup func(uid uint32) (string, error)

	mu     sync.Mutex
	byUser map[uint32]*nameLookup
}

// nameLookup is one lookup. `name`, `err` and `at` are written before `done` is closed.
type nameLookup struct {
	done chan struct{}
	name string
	err  error
	at   time.Time
}

// NewUserNames returns an empty cache in front of a lookup, such as LookupUser.
func NewUserNames(lookup func(uid uint32) (string, error)) *UserNames {
	return &UserNames{lookup: lookup, byUser: map[uint32]*nameLookup{}}
}

// Name returns the name of a user. A lookup that takes longer than NamePatience is an error; the
// next call for this user waits for the same lookup.
func (n *UserNames) Name(ctx context.Context, uid uint32) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, NamePatience)
	defer cancel()
	u := n.start(uid)
	select {
	case <-u.done:
		return u.name, u.err
	case <-ctx.Done():
		return "", fmt.Errorf("look up user %d: no answer within %v", uid, NamePatience)
	}
}

// start returns the usable lookup of a user, or starts one.
func (n *UserNames) start(uid uint32) *nameLookup {
	n.mu.Lock()
	defer n.mu.Unlock()
	if u := n.byUser[uid]; u != nil && u.usable() {
		return u
	}
	u := &nameLookup{done: make(chan struct{})}
	n.byUser[uid] = u
	go func() {
		defer close(u.done)
		u.name, u.err = n.lookup(uid)
		if u.err == nil && u.name == "" {
			u.err = fmt.Errorf("look up user %d: no such user", uid)
		}
		u.at = time.Now()
	}()
	return u
}

// usable reports whether a lookup is under way, or succeeded within nameKept.
func (u *nameLookup) usable() bool {
	select {
	case <-u.done:
		return u.err == nil && time.Since(u.at) < nameKept
	default:
		return true
	}
}
