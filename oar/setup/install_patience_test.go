package setup

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

func TestATableThatOthersUseIsWaitedForTwoMinutes(t *testing.T) {
	inTheWay := errors.New("another is in the way")
	for name, c := range map[string]struct {
		fails int // number of attempts that fail; then the other sessions have finished
		err   error
		tries int
		told  string
		want  string // prefix of the error
	}{
		"nobody uses it":     {0, inTheWay, 1, "", ""},
		"used for a while":   {3, inTheWay, 4, "waiting: ann uses it", ""},
		"used all the time":  {1 << 20, inTheWay, 41, "waiting: ann uses it", "another is in the way: it was tried for 2m0s, and ann uses it: "},
		"another error":      {1, errors.New("no such table"), 1, "", "no such table"},
		"until ctx, then no": {-1, inTheWay, 1, "waiting: ann uses it", "context canceled"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			tries, told := 0, ""
			err := retry(ctx, func(text string) { told += text }, func() error {
				if tries++; c.fails < 0 {
					cancel()
				} else if tries > c.fails {
					return nil
				}
				return c.err
			}, func(err error) bool { return errors.Is(err, inTheWay) }, func() string { return "ann uses it" })
			if tries != c.tries || told != c.told || (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s: %d tries, told %q, %v", name, tries, told, err)
			}
		})
	}
}
