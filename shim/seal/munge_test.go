package seal_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/shim/seal"
	"accordion/shim/seal/sealtest"
)

func TestRealCredentialContainsItsUserAndPayload(t *testing.T) {
	munge := seal.NewMunge(sealtest.Munged(t))
	payload := "a line\n\nSTATUS: 0\nUID: 4711\n\n\x00\xff and more"
	credential, err := munge.Make(t.Context(), []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	got, uid, err := munge.Read(t.Context(), credential)
	if err != nil || string(got) != payload || uid != uint32(os.Getuid()) {
		t.Fatalf("got %q of user %d, %v", got, uid, err)
	}
	var bad *seal.CredentialError
	if _, _, err := munge.Read(t.Context(), credential); !errors.As(err, &bad) || !strings.Contains(bad.Why, "used before") {
		t.Errorf("a second time: %v", err)
	}
}

// made returns a credential that the program munge makes with other options.
func made(t *testing.T, socket string, options ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "munge", append([]string{"--socket=" + socket, "--string=x"}, options...)...).Output()
	if err != nil {
		t.Fatalf("munge: %v", err)
	}
	return strings.TrimSpace(string(out))
}

func TestInvalidRealCredentialIsRefusedWithTheReason(t *testing.T) {
	socket := sealtest.Munged(t)
	munge := seal.NewMunge(socket)
	good := made(t, socket)
	changed := []byte(good)
	changed[len(changed)/2] ^= 1
	elsewhere := filepath.Join(filepath.Dir(sealtest.Key(t)), "key")
	if err := os.WriteFile(elsewhere, []byte(strings.Repeat("another key ", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ credential, why string }{
		"garbage":           {"hello", "munge does not know its format"},
		"white space":       {" \n", ""},
		"half":              {good[:len(good)/2], ""},
		"changed":           {string(changed), ""},
		"of another key":    {made(t, sealtest.Host(t, elsewhere)), "another key"},
		"for another user":  {made(t, socket, "--restrict-uid=12345"), "another user"},
		"64 KiB of rubbish": {"MUNGE:" + strings.Repeat("A", 65000) + ":", ""},
		"with an option":    {"--socket=/nonexistent", ""},
	} {
		var bad *seal.CredentialError
		if payload, _, err := munge.Read(t.Context(), c.credential); !errors.As(err, &bad) || !strings.Contains(bad.Why, c.why) {
			t.Errorf("%s: got %q, %v", name, payload, err)
		}
	}
	if _, _, err := munge.Read(t.Context(), good); err != nil {
		t.Errorf("the good one: %v", err)
	}
}

func TestARealCredentialExpires(t *testing.T) {
	socket := sealtest.Munged(t)
	munge := seal.NewMunge(socket)
	credential := made(t, socket, "--ttl=1")
	var bad *seal.CredentialError
	for end := time.Now().Add(time.Minute); ; {
		_, _, err := munge.Read(t.Context(), credential)
		if errors.As(err, &bad) && strings.Contains(bad.Why, "expired") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("it never expires: %v", err)
		}
		time.Sleep(100 * time.Millisecond) // polls, because munge has no event for this
	}
}

func TestWithoutAMungedNothingIsMadeOrRead(t *testing.T) {
	sealtest.Key(t) // skips the test if munge is not installed
	munge := seal.NewMunge(filepath.Join(t.TempDir(), "nobody"))
	if _, err := munge.Make(t.Context(), nil); !errors.Is(err, seal.ErrUnavailable) || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("make: %v", err)
	}
	if _, _, err := munge.Read(t.Context(), "MUNGE:x:"); !errors.Is(err, seal.ErrUnavailable) {
		t.Errorf("read: %v", err)
	}
	if err := munge.Check(t.Context()); !errors.Is(err, seal.ErrUnavailable) {
		t.Errorf("check: %v", err)
	}
}

// fakeMunge puts a script of the test before munge's programs in PATH.
func fakeMunge(t *testing.T, script string) *seal.Munge {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"munge", "unmunge"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return seal.NewMunge("")
}

func TestOutputOfUnmungeIsChecked(t *testing.T) {
	const refused, unavailable, believed = "refused", "unavailable", "believed"
	for name, c := range map[string]struct{ printed, want string }{
		"a good one":             {`STATUS: 0\nUID: 7\nENCODE_TIME: 1000\nDECODE_TIME: 1300\n\nx`, believed},
		"a clock a bit ahead":    {`STATUS: 0\nUID: 7\nENCODE_TIME: 1300\nDECODE_TIME: 1000\n\nx`, believed},
		"too old":                {`STATUS: 0\nUID: 7\nENCODE_TIME: 1000\nDECODE_TIME: 1301\n\nx`, refused},
		"from far in the future": {`STATUS: 0\nUID: 7\nENCODE_TIME: 1301\nDECODE_TIME: 1000\n\nx`, refused},
		"ages apart":             {`STATUS: 0\nUID: 7\nENCODE_TIME: -9223372036854775808\nDECODE_TIME: 9223372036854775807\n\nx`, refused},
		"replayed":               {`STATUS: 17\nUID: 7\nENCODE_TIME: 1000\nDECODE_TIME: 1000\n\nx`, refused},
		"nobody":                 {`STATUS: 0\nUID: 4294967295\nENCODE_TIME: 1000\nDECODE_TIME: 1000\n\nx`, refused},
		"a negative user":        {`STATUS: 0\nUID: -1\nENCODE_TIME: 1000\nDECODE_TIME: 1000\n\nx`, refused},
		"no user":                {`STATUS: 0\nENCODE_TIME: 1000\nDECODE_TIME: 1000\n\nUID: 7\n\nx`, unavailable},
		"a user by name":         {`STATUS: 0\nUID: root\nENCODE_TIME: 1000\nDECODE_TIME: 1000\n\nx`, unavailable},
		"nothing":                {``, unavailable},
		"no payload's beginning": {`STATUS: 0\nUID: 7\nENCODE_TIME: 1000\nDECODE_TIME: 1000\n`, unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			munge := fakeMunge(t, "printf '"+c.printed+"'\n")
			_, uid, err := munge.Read(t.Context(), "MUNGE:x:")
			got := believed
			var bad *seal.CredentialError
			switch {
			case errors.As(err, &bad):
				got = refused
			case errors.Is(err, seal.ErrUnavailable):
				got = unavailable
			}
			if got != c.want || got == believed && uid != 7 {
				t.Errorf("%s (user %d, %v), want %s", got, uid, err, c.want)
			}
		})
	}
}

func TestAProgramThatPrintsWithoutEndIsEnded(t *testing.T) {
	munge := fakeMunge(t, "yes MUNGE:x:\n")
	if _, err := munge.Make(t.Context(), nil); !errors.Is(err, seal.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestAProgramThatHangsIsEndedWithItsCaller(t *testing.T) {
	munge := fakeMunge(t, "exec sleep 1000\n")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := munge.Make(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
