package wire

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"
)

func TestNoFrameTakesMuchMoreMemoryThanItsLength(t *testing.T) {
	const n = 60_000
	many := "\x82\xa1v\x01\xa1x\xdd\x00\x00\xea\x60"
	for name, body := range map[string]string{
		"allocations": "\x82\xa1v\x01\xaballocations\xdd\x00\x00\xea\x60" + strings.Repeat("\x80", n),
		"lists":       many + strings.Repeat("\x90", n),
		"maps":        many + strings.Repeat("\x80", n),
		"nested":      "\x82\xa1v\x01\xa1x" + strings.Repeat("\x91", n) + "\x01",
	} {
		for reader, read := range map[string]func(*bytes.Reader, []byte){
			"ReadRequest": func(r *bytes.Reader, _ []byte) { _, _ = ReadRequest(r) },
			"ReadReply":   func(r *bytes.Reader, _ []byte) { _, _ = ReadReply(r) },
			"ReadPiece":   func(r *bytes.Reader, _ []byte) { _, _ = ReadPiece(r) },
			"VersionOf":   func(_ *bytes.Reader, frame []byte) { VersionOf(frame) },
		} {
			in := frame(body)
			least := int64(math.MaxInt64)
			for range 5 { // other goroutines of the process also allocate and end
				took := make(chan int64)
				go func() { // a new goroutine has a stack of its own
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					read(bytes.NewReader(in), in)
					runtime.ReadMemStats(&after)
					used := func(m *runtime.MemStats) int64 { return int64(m.TotalAlloc + m.StackSys + m.StackInuse) }
					took <- used(&after) - used(&before)
				}()
				least = min(least, <-took)
			}
			if least > 20*int64(len(in)) {
				t.Errorf("%s of %s: %d bytes for a frame of %d", reader, name, least, len(in))
			}
		}
	}
}
