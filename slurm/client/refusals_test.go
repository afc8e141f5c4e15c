package client

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"accordion/internal/testenv"
)

func TestARefusalIsKnownByItsWholeText(t *testing.T) {
	for _, c := range []struct {
		said string
		want Refusal
	}{
		{"salloc: error: Failed to allocate resources: Requested nodes are busy", NodesBusy},
		{"salloc: error: Job submit/allocate failed: Required partition not available (inactive or drain)", PartitionUnavailable},
		{"salloc: error: Job submit/allocate failed: Required node not available (down, drained or reserved)", NodeUnavailable},
		{"sbatch: error: Batch job submission failed: Requested node configuration is not available", NodesUnfit},
		{"salloc: error: Failed to allocate resources: Requested partition configuration not available now", PartitionUnfit},
		{"Error creating the reservation: Requested reservation overlaps with another reservation", ReservationOverlaps},
		{"Error deleting the reservation: Requested reservation is in use", ReservationInUse},
		{"slurm_update error: Job/step already completing or completed", JobCompleting},
		{"slurm_update error: Job has already finished", JobFinished},
		{"salloc: Pending job allocation 7\nsalloc: job 7 queued and waiting for resources", Queued},
		{"Reservation accordion-lease not found", ReservationNotFound},
	} {
		err := fmt.Errorf("doing: %w", &Failure{Said: c.said, Code: 1})
		for r := range refusalTexts {
			if got := Refused(err, r); got != (r == c.want) {
				t.Errorf("%q is %s: %v", c.said, r, got)
			}
		}
	}
	if Refused(errors.New("Requested nodes are busy"), NodesBusy) {
		t.Error("an error that no client program printed counts as a refusal")
	}
}

// installed holds the root directories of the releases that labs use.
var installed = map[string]string{"20.11": "/var/cache/accordion-labs/bullseye", "22.05": "/", "24.11": "/var/cache/accordion-labs/trixie", "26.05": "/var/cache/accordion-labs/sid"}

// Each release's own library has the messages word for word, and lacks the messages that the release no longer has.
func TestTheTextsOfRefusalsAreThoseOfEachRelease(t *testing.T) {
	looked := 0
	for release, root := range installed {
		library, err := os.ReadFile(filepath.Join(root, "usr/lib/x86_64-linux-gnu/slurm-wlm/libslurmfull.so"))
		if err != nil {
			continue
		}
		looked++
		for r, s := range refusalTexts {
			if !strings.HasPrefix(string(r), "ESLURM") {
				continue
			}
			want := s.until == "" || release < s.until
			if has := bytes.Contains(library, []byte("\x00"+s.text+"\x00")); has != want {
				t.Errorf("Slurm %s has the text %q of %s: %v, want %v", release, s.text, r, has, want)
			}
		}
	}
	cause := ""
	if looked == 0 {
		cause = "no release of Slurm is installed"
	}
	testenv.Needs(t, testenv.Missing("releases", cause))
}
