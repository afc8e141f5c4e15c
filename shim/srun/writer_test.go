package srun

import (
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLinesComeOutWholeHoweverTheyCameIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-c]{0,5}\n?){0,20}`).Draw(t, "text")
		var got []string
		l := &Writer{Pass: func(line []byte) error { got = append(got, string(line)); return nil }}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "a piece")
			if _, err := l.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		l.Flush()
		if strings.Join(got, "") != text {
			t.Fatalf("%q became %q", text, got)
		}
		for i, line := range got {
			if strings.Count(line, "\n") != 1 && i < len(got)-1 || strings.Contains(strings.TrimSuffix(line, "\n"), "\n") {
				t.Fatalf("%q is not a line", line)
			}
		}
	})
}

func TestALineWithoutAnEndIsNotHeldBackForEver(t *testing.T) {
	passed := 0
	l := &Writer{Pass: func(line []byte) error { passed += len(line); return nil }}
	if _, err := l.Write(make([]byte, 3*maxHeld)); err != nil || passed < 2*maxHeld {
		t.Fatalf("%d bytes came out, %v", passed, err)
	}
}

func TestWriteErrorIsReturned(t *testing.T) {
	l := &Writer{Pass: func([]byte) error { return io.ErrClosedPipe }}
	if _, err := l.Write([]byte("a\n")); !errors.Is(err, io.ErrClosedPipe) {
		t.Fatalf("got %v", err)
	}
}
