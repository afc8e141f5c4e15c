package replay

import (
	"io"
	"runtime"
	"sync"
)

// rowsOfPiece is the number of rows that a goroutine makes at a time: some hundred kilobytes.
const rowsOfPiece = 1 << 12

// writeRows writes rows 0 to n-1. row appends row k. Several goroutines call `row`, so that rows are made while
// earlier rows are written.
func writeRows(out io.Writer, n int, row func(rows []byte, k int) []byte) error {
	pieces := (n + rowsOfPiece - 1) / rowsOfPiece
	makers := min(pieces, runtime.GOMAXPROCS(0))
	var (
		made   = make([]chan []byte, makers) // goroutine m makes the pieces m, m+makers, m+2·makers and so on
		again  = make([]chan []byte, makers) // memory to reuse
		failed = make(chan struct{})
		all    sync.WaitGroup
	)
	defer all.Wait()
	for m := range makers {
		made[m], again[m] = make(chan []byte, 1), make(chan []byte, 3)
		all.Go(func() {
			for piece := m; piece < pieces; piece += makers {
				var rows []byte
				select {
				case rows = <-again[m]:
				default:
				}
				for k := piece * rowsOfPiece; k < min(n, (piece+1)*rowsOfPiece); k++ {
					rows = row(rows, k)
				}
				select {
				case made[m] <- rows:
				case <-failed:
					return
				}
			}
		})
	}
	for piece := range pieces {
		m := piece % makers
		rows := <-made[m]
		if _, err := out.Write(rows); err != nil {
			close(failed)
			return err
		}
		again[m] <- rows[:0]
	}
	return nil
}
