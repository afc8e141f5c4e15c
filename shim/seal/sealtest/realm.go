// Package sealtest makes credentials for tests. A Realm simulates munge inside the process, with any users. Munged starts a real munged for
// the test. The package is only for tests.
//
//	realm := sealtest.NewRealm()
//	alice := realm.User(1001)            // a seal.Authority
//
//
//	socket := sealtest.Munged(t)         // a real one, ended with the test
//	authority := seal.NewMunge(socket)
package sealtest

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"accordion/shim/seal"
)

// Realm simulates hosts that share a munge key. Like munge, it accepts each credential once.
type Realm struct {
	mu     sync.Mutex
	serial int
	used   map[string]bool
	broken error
}

// NewRealm returns a Realm without credentials.
func NewRealm() *Realm { return &Realm{used: map[string]bool{}} }

// Break makes every later call fail with an error. Break(nil) ends this.
func (r *Realm) Break(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = err
}

// User returns the authority of a process of a user.
func (r *Realm) User(uid uint32) seal.Authority { return authority{r, uid} }

type authority struct {
	realm *Realm
	uid   uint32
}

func (a authority) Make(_ context.Context, payload []byte) (string, error) {
	r := a.realm
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serial++
	return fmt.Sprintf("%d %d .%x", r.serial, a.uid, payload), r.broken
}

func (a authority) Read(_ context.Context, credential string) ([]byte, uint32, error) {
	r := a.realm
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return nil, 0, r.broken
	}
	var serial int
	var uid uint32
	var digits string
	if n, _ := fmt.Sscan(credential, &serial, &uid, &digits); n != 3 || len(strings.Fields(credential)) != 3 {
		return nil, 0, &seal.CredentialError{Why: "it is none that this realm knows"}
	}
	payload, err := hex.DecodeString(strings.TrimPrefix(digits, "."))
	if err != nil {
		return nil, 0, &seal.CredentialError{Why: err.Error()}
	}
	if r.used[credential] {
		return nil, 0, &seal.CredentialError{Why: "it was used before"}
	}
	r.used[credential] = true
	return payload, uid, nil
}
