package advise

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar on standard error, where that is a terminal: it is told how much of how much is done, from any goroutine, and when all is over.
// Elsewhere told is nil.
func progress(what string, options ...progressbar.Option) (told func(done, of int), over func()) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil, func() {}
	}
	var (
		first sync.Once
		b     *progressbar.ProgressBar
	)
	told = func(done, of int) {
		first.Do(func() {
			b = progressbar.NewOptions(of, append(options, progressbar.OptionSetDescription(what), progressbar.OptionSetWriter(os.Stderr),
				progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(50*time.Millisecond))...)
		})
		if b == nil {
			return
		}
		_ = b.Set(done) // a bar that cannot be drawn is no reason to fail
	}
	return told, func() {
		first.Do(func() {}) // who is told later, as a replay that was left, sees no bar
		if b != nil {
			_ = b.Close()
		}
	}
}

// watched is a file that tells how far it is read; itself where nobody looks, or nobody knows how long it is.
func watched(file *os.File) (in io.Reader, over func()) {
	told, over := progress("reading", progressbar.OptionShowBytes(true))
	info, err := file.Stat()
	if told == nil || err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return file, over
	}
	return &reading{file: file, of: int(info.Size()), told: told}, over
}

// reading counts what is read of a file.
type reading struct {
	file     *os.File
	done, of int
	told     func(done, of int)
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.file.Read(p)
	r.done += n
	r.told(min(r.done, r.of), r.of)
	return n, err
}
