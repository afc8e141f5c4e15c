package seal

import (
	"errors"
	"strings"
	"testing"
)

// FuzzParse checks that parse returns a user only if the head of the output contains one, and that the payload is the
// rest of the output after the head.
func FuzzParse(f *testing.F) {
	f.Add("STATUS: 0\nUID: 7\nENCODE_TIME: 1000\nDECODE_TIME: 1000\n\npayload")
	f.Add("STATUS: 0\nUID: 7\nENCODE_TIME: 1000\nDECODE_TIME: 1000\nUID: 8\n\n\n\nUID: 0\n\n")
	f.Add("STATUS: 17\nUID: 4294967295\nENCODE_TIME: -9223372036854775808\nDECODE_TIME: 9223372036854775807\n\n")
	f.Add("\n\n")
	f.Fuzz(func(t *testing.T, printed string) {
		payload, uid, err := parse([]byte(printed))
		var bad *CredentialError
		switch {
		case err == nil:
			head, rest, _ := strings.Cut(printed, "\n\n")
			if string(payload) != rest || !strings.Contains(head, "UID") {
				t.Fatalf("user %d, payload %q of %q", uid, payload, printed)
			}
		case !errors.As(err, &bad) && !errors.Is(err, ErrUnavailable):
			t.Fatalf("an error of no known type: %v", err)
		case payload != nil || uid != 0:
			t.Fatalf("an error and user %d, payload %q", uid, payload)
		}
	})
}
