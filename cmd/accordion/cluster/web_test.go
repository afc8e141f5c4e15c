package cluster

import (
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/config"
	"accordion/adapter/journal"
)

func TestThePageListensOnlyWhereItIsAskedTo(t *testing.T) {
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	w, err := openInstruments(config.Default(), j, nil, nil, nil, hclog.NewNullLogger())
	if err != nil || w.subscriber != nil || len(w.parts) > 0 || len(w.ends) > 0 {
		t.Errorf("without [web] listen: %+v, %v", w, err)
	}
	conf := config.Default()
	conf.Web.Listen = "127.0.0.1:0"
	w, err = openInstruments(conf, j, nil, nil, nil, hclog.NewNullLogger())
	if err != nil || w.subscriber == nil || len(w.parts) != 1 {
		t.Fatalf("with it: %+v, %v", w, err)
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
	conf.Web.Listen = "192.0.2.1:9821" // not an address of this host
	if _, err := openInstruments(conf, j, nil, nil, nil, hclog.NewNullLogger()); err == nil {
		t.Error("an address that is not this host's is taken")
	}
}

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
