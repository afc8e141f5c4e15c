package readers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/adapter/session"
	"accordion/adapter/view"
	"accordion/shim/wire"
)

// asks sends a query for a reset as the user with the ID uid, and returns the answer.
func asks(t *testing.T, s *Server, uid uint32, user string) string {
	t.Helper()
	var first bytes.Buffer
	if err := wire.WriteQuery(&first, wire.Query{What: wire.QueryReset, User: user}); err != nil {
		t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	defer ours.Close()
	go func() {
		defer theirs.Close()
		s.Session(context.Background(), theirs, session.Peer{UID: uid}, first.Bytes())
	}()
	var said strings.Builder
	for {
		p, err := wire.ReadPiece(ours)
		if errors.Is(err, io.EOF) {
			return said.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		said.Write(p.Data)
		if said.WriteString(p.Why); p.Status != "" {
			return said.String()
		}
	}
}

func TestOnlyRootResetsLimits(t *testing.T) {
	var reset []string
	s := New(Options{Journal: t.TempDir() + "/none.db", Name: func(context.Context, uint32) (string, error) { return "ann", nil },
		Reset: func(_ context.Context, user string) (bool, error) { reset = append(reset, user); return true, nil }})
	defer s.Close()
	if says := asks(t, s, 4711, "ann"); !strings.Contains(says, "only root may reset limits") || len(reset) > 0 {
		t.Errorf("a user who asks reads %q, and %v are reset", says, reset)
	}
	if says := asks(t, s, 0, "ann"); says != "true\n" || len(reset) != 1 || reset[0] != "ann" {
		t.Errorf("root reads %q, and %v are reset", says, reset)
	}
}

func TestUsersSeeOnlyTheirOwnUsageIfJobsArePrivate(t *testing.T) {
	published, err := json.Marshal(view.Queue{Usage: &view.Usage{Users: []view.UserUsage{{User: "ann"}, {User: "bob"}}}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := splitQueue(published)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"ann", "bob", "carol"} {
		var text strings.Builder
		if err := c.write(&text, viewer{name: user, hidden: adapter.Hidden{Jobs: true}}); err != nil {
			t.Fatal(err)
		}
		var q view.Queue
		if err := json.Unmarshal([]byte(text.String()), &q); err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{"ann", "bob"} {
			seen := slices.ContainsFunc(q.Usage.Users, func(u view.UserUsage) bool { return u.User == other })
			if seen != (user == other) {
				t.Errorf("%s sees the usage of %s: %t", user, other, seen)
			}
		}
	}
}
