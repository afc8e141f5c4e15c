package replay

import (
	"bytes"
	"errors"
	"strconv"
	"testing"
)

func TestRowsAreWrittenInOrder(t *testing.T) {
	row := func(rows []byte, k int) []byte { return append(strconv.AppendInt(rows, int64(k), 10), '\n') }
	for _, n := range []int{0, 1, rowsOfPiece - 1, rowsOfPiece, 10*rowsOfPiece + 1} {
		var want []byte
		for k := range n {
			want = row(want, k)
		}
		var got bytes.Buffer
		if err := writeRows(&got, n, row); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%d rows: %d bytes, want %d; error %v", n, got.Len(), len(want), err)
		}
	}
}

// full is a writer that accepts some writes, and then fails.
type full struct{ left int }

var errFull = errors.New("no space left")

func (f *full) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriteErrorEndsRows(t *testing.T) {
	for left := range 3 {
		made := make([]bool, 100*rowsOfPiece)
		err := writeRows(&full{left}, len(made), func(rows []byte, k int) []byte {
			made[k] = true
			return append(rows, 'x')
		})
		if !errors.Is(err, errFull) {
			t.Errorf("after %d writings: error %v", left, err)
		}
		if made[len(made)-1] { // all goroutines have ended, so that reading here is no race
			t.Errorf("after %d writings all rows were made", left)
		}
	}
}
