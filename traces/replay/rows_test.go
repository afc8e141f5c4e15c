package replay

import (
	"bytes"
	"errors"
	"strconv"
	"testing"
)

func TestRowsAreWrittenInTheirOrder(t *testing.T) {
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

// full takes one writing, and fails then.
type full struct{ left int }

var errFull = errors.New("no space left")

func (f *full) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestRowsEndWhenTheyCannotBeWritten(t *testing.T) {
	for left := range 3 {
		made := make([]bool, 100*rowsOfPiece)
		err := writeRows(&full{left}, len(made), func(rows []byte, k int) []byte {
			made[k] = true
			return append(rows, 'x')
		})
		if !errors.Is(err, errFull) {
			t.Errorf("after %d writings: error %v", left, err)
		}
		if made[len(made)-1] { // all have come to their end: what is read here is not written any more
			t.Errorf("after %d writings all rows were made", left)
		}
	}
}
