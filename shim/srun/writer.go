package srun

import "bytes"

// maxHeld is how many bytes of an incomplete line are held back.
const maxHeld = 64 << 10

// Writer passes on whole lines. Only one goroutine may use it. At the end, Flush passes on an incomplete line.
type Writer struct {
	Pass func(line []byte) error // is called with each line, including its line end; it must not keep the slice
	Raw  bool                    // passes on everything as it comes
	held []byte
}

func (l *Writer) Write(p []byte) (int, error) {
	if l.Raw {
		return len(p), l.Pass(p)
	}
	l.held = append(l.held, p...)
	rest := l.held
	for {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 && len(rest) >= maxHeld {
			end = len(rest)
		}
		if end == 0 {
			l.held = append(l.held[:0], rest...)
			return len(p), nil
		}
		if err := l.Pass(rest[:end]); err != nil {
			return 0, err
		}
		rest = rest[end:]
	}
}

// Flush passes on a line without an end.
func (l *Writer) Flush() {
	if len(l.held) > 0 {
		_ = l.Pass(l.held) // the caller cannot use the error
		l.held = nil
	}
}
