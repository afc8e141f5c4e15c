package readers

import (
	"context"
	"iter"
	"net"
	"time"

	"accordion/adapter/journal"
	"accordion/shim/wire"
)

type entries = iter.Seq2[journal.Entry, error]

// pieceSize is the maximum size of a piece of an answer, in bytes. It is less than the maximum size of a frame.
const pieceSize = 48 << 10

// answer is a writer that sends an answer in pieces, no faster than the user's allowance permits. The
// reader must receive each piece within a time limit.
type answer struct {
	ctx   context.Context
	conn  net.Conn
	piece time.Duration // time limit for sending a piece
	spend func(bytes int) time.Duration
	first wire.Piece // values of Path and PID for all pieces
	held  []byte
}

func (a *answer) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		more := min(len(b), pieceSize-len(a.held))
		a.held, b = append(a.held, b[:more]...), b[more:]
		if len(a.held) == pieceSize {
			if err := a.flush(wire.Piece{}); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// flush sends the buffered bytes.
func (a *answer) flush(p wire.Piece) error {
	if err := a.cost(len(a.held)); err != nil {
		return err
	}
	p.Data, p.Path, p.PID = a.held, a.first.Path, a.first.PID
	a.conn.SetWriteDeadline(time.Now().Add(a.piece))
	if err := wire.WritePiece(a.conn, p); err != nil {
		return err
	}
	a.held, a.first = a.held[:0], wire.Piece{}
	return nil
}

// close sends the buffered bytes and the end of the answer, in one piece.
func (a *answer) close(end wire.Piece) error {
	end.Data, end.Path, end.PID = a.held, a.first.Path, a.first.PID
	a.conn.SetWriteDeadline(time.Now().Add(a.piece))
	return wire.WritePiece(a.conn, end)
}

// cost waits until the user's allowance covers the bytes.
func (a *answer) cost(bytes int) error {
	wait := a.spend(bytes)
	if wait == 0 {
		return a.ctx.Err()
	}
	select {
	case <-time.After(wait):
		return a.ctx.Err()
	case <-a.ctx.Done():
		return a.ctx.Err()
	}
}
