package traces

import (
	"bytes"
	"context"
	"testing"

	"github.com/spf13/cobra"
)

func TestInterruptedExperimentReportsItsProgress(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		ctx, stop := context.WithCancel(t.Context())
		var out bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetContext(ctx)
		cmd.SetOut(&out)
		err := experiment(cmd, 5, "tests", asJSON, func(done func(int)) error {
			done(3)
			stop()
			return ctx.Err()
		})
		const want = "interrupted: 3 of 5 tests done"
		wantOut := want + "\n"
		if asJSON {
			wantOut = ""
		}
		if err == nil || err.Error() != want || out.String() != wantOut {
			t.Errorf("JSON %v: error %v, output %q; want %q, %q", asJSON, err, &out, want, wantOut)
		}
	}
}
