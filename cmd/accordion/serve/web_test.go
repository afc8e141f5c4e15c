package serve

import (
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"

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
