package orders

import (
	"testing"

	"accordion/adapter"
)

func TestAJobOfAnotherUserIsNoPartThoughItHasTheNumberAndTheMark(t *testing.T) {
	jobs := []*adapter.Job{
		{Key: adapter.Key{ID: 5}, User: "eve", Comment: "launch=7", Mark: "accordion:launch=7", State: adapter.Pending},
		{Key: adapter.Key{ID: 6}, User: "eve", Mark: "accordion:launch=7", State: adapter.Pending}, // as if the batch system had made it
	}
	for _, n := range []name{{7, 5}, {7, 0}} {
		if got := find(n, "ada", jobs); got != nil {
			t.Errorf("%+v of ada is %s's job %d", n, got.User, got.ID)
		}
		if got := find(n, "eve", jobs); got == nil {
			t.Errorf("%+v of eve is not found", n)
		}
	}
}
