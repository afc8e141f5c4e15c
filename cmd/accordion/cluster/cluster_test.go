package cluster

import (
	"path/filepath"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/adapter/config"
	"accordion/shim/seal/sealtest"
)

func TestPreflightSaysWhetherJobsOnOtherHostsReachTheSidecar(t *testing.T) {
	munge := sealtest.Munged(t)
	for name, c := range map[string]struct {
		session config.Session
		want    adapter.Severity // "" for no finding
		says    string
	}{
		"no address":     {config.Session{}, adapter.Note, "this host only"},
		"an address":     {config.Session{Listen: ":6820", MungeSocket: munge}, "", ""},
		"without munged": {config.Session{Listen: ":6820", MungeSocket: filepath.Join(t.TempDir(), "nobody")}, adapter.Fatal, "nobody"},
	} {
		found := checkSession(t.Context(), c.session)
		switch {
		case c.want == "" && len(found) > 0:
			t.Errorf("%s: %v", name, found)
		case c.want != "" && (len(found) != 1 || found[0].Severity != c.want || !strings.Contains(found[0].What, c.says)):
			t.Errorf("%s: %v, want %s: %s", name, found, c.want, c.says)
		}
	}
}
