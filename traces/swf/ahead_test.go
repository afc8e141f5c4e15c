package swf

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func TestReadAheadEqualsTheInput(t *testing.T) {
	text := bytes.Repeat([]byte("a line of a log\n"), 100_000)
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		in  io.Reader
		end error
	}{
		"whole":         {bytes.NewReader(text), io.EOF},
		"byte by byte":  {iotest.OneByteReader(bytes.NewReader(text)), io.EOF},
		"end with data": {iotest.DataErrReader(bytes.NewReader(text)), io.EOF},
		"cut":           {io.MultiReader(bytes.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF)), io.ErrUnexpectedEOF},
		"broken":        {io.MultiReader(bytes.NewReader(text), iotest.ErrReader(broken)), broken},
	} {
		a := newAhead(c.in)
		var got bytes.Buffer
		_, err := io.CopyBuffer(struct{ io.Writer }{&got}, a, make([]byte, 1000))
		if !errors.Is(c.end, io.EOF) && !errors.Is(err, c.end) || errors.Is(c.end, io.EOF) && err != nil || !bytes.Equal(got.Bytes(), text) {
			t.Errorf("%s: %d bytes of %d, error %v", name, got.Len(), len(text), err)
		}
		if _, again := a.Read(make([]byte, 1)); !errors.Is(again, c.end) {
			t.Errorf("%s: after the end %v", name, again)
		}
		a.Close()
	}
}

// A caller that finds out that a file is no log stops reading.
func TestReadingAheadEndsWithItsReader(t *testing.T) {
	for _, take := range []int{0, 1, 300_000} {
		a := newAhead(endless{})
		if _, err := io.ReadFull(a, make([]byte, take)); err != nil {
			t.Error(err)
		}
		a.Close()
		select {
		case <-a.ended:
		default:
			t.Errorf("after %d bytes it goes on", take)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
