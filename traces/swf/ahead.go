package swf

import "io"

// ahead reads from another reader in its own goroutine, a few blocks ahead. For a compressed log this unpacks the next lines while earlier
// ones are parsed. Close ends the goroutine.
type ahead struct {
	full   chan block // blocks that were read
	empty  chan []byte
	closed chan struct{}
	ended  chan struct{} // closed when the goroutine ends
	now    block         // the block that Read returns
}

// block is the result of one read.
type block struct {
	memory, rest []byte
	err          error // returned after the data of the block
}

func newAhead(in io.Reader) *ahead {
	const blocks, size = 4, 128 << 10
	a := &ahead{full: make(chan block, blocks), empty: make(chan []byte, blocks), closed: make(chan struct{}), ended: make(chan struct{})}
	for range blocks {
		a.empty <- make([]byte, size)
	}
	go a.fill(in)
	return a
}

// fill reads until an error, or until Close.
func (a *ahead) fill(in io.Reader) {
	defer close(a.ended)
	for {
		var memory []byte
		select {
		case memory = <-a.empty:
		case <-a.closed:
			return
		}
		n, err := filled(in, memory)
		select {
		case a.full <- block{memory, memory[:n], err}:
		case <-a.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

// filled reads until the memory is full, or until an error, which it returns as the reader gave it.
func filled(in io.Reader, memory []byte) (n int, err error) {
	for n < len(memory) && err == nil {
		var more int
		more, err = in.Read(memory[n:])
		n += more
	}
	return n, err
}

// Read implements io.Reader.
func (a *ahead) Read(into []byte) (int, error) {
	for len(a.now.rest) == 0 {
		if a.now.err != nil {
			return 0, a.now.err
		}
		if a.now.memory != nil {
			a.empty <- a.now.memory
		}
		a.now = <-a.full
	}
	n := copy(into, a.now.rest)
	a.now.rest = a.now.rest[n:]
	return n, nil
}

// Close ends the goroutine, and waits for its current read.
func (a *ahead) Close() {
	close(a.closed)
	<-a.ended
}
