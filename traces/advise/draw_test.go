package advise

import (
	"strings"
	"testing"

	"accordion/core/ep"

	"github.com/google/go-cmp/cmp"
)

func TestProfileIsDrawnWithCharacters(t *testing.T) {
	for _, c := range []struct{ requested, want string }{
		{"2x20m,16x1h20m,4x1h20m", `
16 |    ################
 4 |    ################################
 2 |####################################
   +------------------------------------
    0                                 3h
`},
		{"5x10s", `
5 |####################################
  +------------------------------------
   0                                10s
`},
		{"1x10h,9x1s,1x10h", `
9 |                 ##
1 |####################################
  +------------------------------------
   0                              20h1s
`},
		{"1x1m,2x1m,3x1m,4x1m,5x1m,6x1m,7x1m,8x1m", `
8 |                           #########
6 |                  ##################
4 |    ################################
1 |####################################
  +------------------------------------
   0                                 8m
`},
	} {
		requested, err := ep.Parse(c.requested)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), Draw(requested, 36, 4)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.requested, diff)
		}
	}
}

func TestCheckReturnsEveryMistake(t *testing.T) {
	_, errs := Check(" 2x20,ax5s,300x1h,4x10m", 100)
	var got []string
	for _, err := range errs {
		got = append(got, err.Error())
	}
	want := []string{
		`evolution profile, column 4: "20" is not a duration above 0 and up to 3650 days: write 500s, 90m, 1h30m, 2d, MM:SS, HH:MM:SS or D-HH:MM:SS`,
		`evolution profile, column 7: "a" is not a number of nodes from 1 to 1000000, as in 5x500s`,
		`evolution profile, column 12: "300x1h" is not within the machine's 100 nodes`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mistakes (-want +got):\n%s", diff)
	}
	if r, errs := Check("2x20s,4x1m", 4); len(errs) > 0 || r.Choices[0].Area() != 280 {
		t.Errorf("%v, %v", r, errs)
	}
	if _, errs := Check("1x3650d,2x3650d", 4); len(errs) != 1 {
		t.Errorf("a profile of twenty years: %v", errs)
	}
}
