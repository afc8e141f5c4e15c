package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/traces/swf"
)

// The expected numbers are the published first numbers of the generator for a state of 0.
func TestSplitmixGivesThePublishedNumbers(t *testing.T) {
	var s Splitmix
	for _, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		if got := s.Next(); got != want {
			t.Errorf("splitmix64 gives %#x, want %#x", got, want)
		}
	}
}

// An independent program computed these sums for the log of the benchmarks. Under EASY, with the rules of the replay, it found a mean wait of
// 51954.9093 seconds.
func TestGeneratedLogEqualsThatOfAnotherProgram(t *testing.T) {
	log := Generated(10_000, GeneratedSeed)
	var size, request, run int64
	for i, r := range log.Records {
		size, request, run = size+int64(r.Processors), request+r.RequestedTime, run+r.Run
		if r.Number != int64(i)+1 || r.Processors > GeneratedNodes || r.Run > r.RequestedTime || r.Size() != r.Processors {
			t.Fatalf("job %d: %+v", i+1, r)
		}
	}
	last := log.Records[9999].Submit
	if last != 38042469 || size != 1510721 || request != 434259435 || run != 215013022 {
		t.Errorf("last submission, sums of sizes, requests, run times: %d, %d, %d, %d", last, size, request, run)
	}
	if n, ok := log.Header.Machine(); n != GeneratedNodes || !ok {
		t.Errorf("the header says %d nodes, %v", n, ok)
	}
}

// examples/generated.swf is for users without a log.
func TestBundledLogIsGenerated(t *testing.T) {
	bundled, err := swf.ReadFile("../../examples/generated.swf", swf.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Generated(2000, GeneratedSeed).Records, bundled.Records); diff != "" {
		t.Errorf("make it anew (accordion trace generate --jobs 2000): it differs (-want +got):\n%s", diff)
	}
}
