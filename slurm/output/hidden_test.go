package output

import (
	"testing"

	"accordion/adapter"
)

func TestPrivateDataSaysWhatIsHidden(t *testing.T) {
	for value, want := range map[string]adapter.Hidden{
		"none":               {},
		"":                   {},
		"jobs":               {Jobs: true},
		"accounts,jobs":      {Jobs: true, Accounts: true},
		"usage":              {Accounts: true},
		"nodes,reservations": {Nodes: true, Reservations: true},
		"events":             {},
		"all":                {Jobs: true, Reservations: true, Nodes: true, Accounts: true},
	} {
		if got := Hidden(Configuration{"PrivateData": value}); got != want {
			t.Errorf("PrivateData=%s hides %+v, want %+v", value, got, want)
		}
	}
}
