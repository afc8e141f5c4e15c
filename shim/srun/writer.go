package srun

import "bytes"

// longest is how much of a line without an end is held back, in bytes.
const longest = 64 << 10

// Writer passes whole lines on, and what is left at the end (Flush). It belongs to one goroutine.
type Writer struct {
	Pass func(line []byte) error // with its end, if it has one; it keeps nothing of it
	Raw  bool                    // pass everything on as it comes
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
		if end == 0 && len(rest) >= longest {
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

// Flush passes on what has no end.
func (l *Writer) Flush() {
	if len(l.held) > 0 {
		_ = l.Pass(l.held) // nobody is left to be told
		l.held = nil
	}
}
