package resize

import (
	"errors"
	"fmt"
	"testing"

	"accordion/adapter"
	"accordion/slurm/client"
)

func TestWhatARefusalOfNodesMeans(t *testing.T) {
	for _, c := range []struct {
		said string
		shut bool
		want error
	}{
		{"Requested nodes are busy", false, adapter.ErrBusy},
		{"Required node not available (down, drained or reserved)", false, adapter.ErrBusy},
		{"Requested reservation is invalid", false, adapter.ErrBusy},
		{"Immediate execution impossible, insufficient priority", true, adapter.ErrBusy},
		{"Requested partition configuration not available now", false, adapter.ErrBusy},
		{"Requested partition configuration not available now", true, adapter.ErrShut},
		{"Required partition not available (inactive or drain)", false, adapter.ErrShut},
		{"Partition in DOWN state", false, adapter.ErrShut},
		{"Job can not start due to maintenance reservation.", false, adapter.ErrReserved},
		{"Job dependency problem", true, nil},
		{"Invalid account or account/partition combination specified", false, nil},
		{"Unable to contact slurm controller (connect failure)", true, nil},
	} {
		err := fmt.Errorf("salloc: %w", &client.Failure{Code: 1, Said: "salloc: error: Failed to allocate resources: " + c.said + "\n"})
		if got := refusalMeaning(err, c.shut); !errors.Is(got, c.want) {
			t.Errorf("%q, the partition shut %v: %v, want %v", c.said, c.shut, got, c.want)
		}
	}
}
