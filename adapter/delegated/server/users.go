package server

import (
	"context"
	"fmt"
	"os/user"
	"strconv"
	"sync"
	"time"
)

// Names tells a user's name. It may ask a directory on the network.
type Names func(uid uint32) (string, error)

// SystemNames asks what the operating system asks (nsswitch).
func SystemNames(uid uint32) (string, error) {
	u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	if err != nil {
		return "", err
	}
	return u.Username, nil
}

// Remembered returns a function that asks for each name only once in a while, and waits for the
// answer within a deadline.
func Remembered(ask Names) func(context.Context, uint32) (string, error) { return newBook(ask).name }

const (
	nameKept     = 10 * time.Minute // a user who is renamed is known by the new name after that
	namePatience = 5 * time.Second
)

// book remembers names, and asks for each only once at a time.
type book struct {
	ask Names

	mu    sync.Mutex
	pages map[uint32]*page
}

// page is one user's. name, err and at are written before done is closed.
type page struct {
	done chan struct{}
	name string
	err  error
	at   time.Time
}

func newBook(ask Names) *book { return &book{ask: ask, pages: map[uint32]*page{}} }

// name is a user's, as it was told within nameKept. An answer that does not come is an error after namePatience; whoever asks next waits
// for the same answer.
func (b *book) name(ctx context.Context, uid uint32) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, namePatience)
	defer cancel()
	p := b.page(uid)
	select {
	case <-p.done:
		return p.name, p.err
	case <-ctx.Done():
		return "", fmt.Errorf("the name of user %d was not told within %v", uid, namePatience)
	}
}

func (b *book) page(uid uint32) *page {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.pages[uid]; p != nil && p.usable() {
		return p
	}
	p := &page{done: make(chan struct{})}
	b.pages[uid] = p
	go func() {
		defer close(p.done)
		p.name, p.err = b.ask(uid)
		if p.err == nil && p.name == "" {
			p.err = fmt.Errorf("user %d has no name", uid)
		}
		p.at = time.Now()
	}()
	return p
}

// usable: it is being asked for, or was told a moment ago. What failed is asked for again.
func (p *page) usable() bool {
	select {
	case <-p.done:
		return p.err == nil && time.Since(p.at) < nameKept
	default:
		return true
	}
}
