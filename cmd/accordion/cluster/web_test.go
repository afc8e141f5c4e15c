package cluster

import (
	"testing"

	"accordion/adapter"
	"accordion/adapter/config"
)

func TestThePageDoesNotShowWhatSlurmHides(t *testing.T) {
	for _, c := range []struct {
		hidden  string
		listen  string
		private bool
		refused bool
	}{
		{"none", ":9821", false, false},
		{"accounts,usage", ":9821", false, false},
		{"accounts,jobs", ":9821", false, true},
		{"accounts,jobs", ":9821", true, false},
		{"all", "/run/web.sock", false, true},
		{"jobs", "", false, false},
	} {
		found := checkWeb(config.Web{Listen: c.listen, Private: c.private}, c.hidden)
		if refused := adapter.Failures(found) > 0; refused != c.refused {
			t.Errorf("PrivateData=%s, listen %q, private %v: %v", c.hidden, c.listen, c.private, found)
		}
	}
}
