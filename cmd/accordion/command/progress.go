package command

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress starts a progress bar on standard error. The result `told` is a function that updates the bar, and any goroutine may call it; it
// is nil if standard error is not a terminal. The result `over` is a function that removes the bar; later calls of `told` have no effect.
func Progress(what string, options ...progressbar.Option) (told func(done, of int), over func()) {
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
		_ = b.Set(done) // a bar that cannot be drawn must not end the command
	}
	return told, func() {
		first.Do(func() {}) // an abandoned replay may still call `told`
		if b != nil {
			_ = b.Close()
		}
	}
}

// ProgressTo starts the progress bar of a known amount of work. The result `done` is a function that adds to the
// finished work; it is nil if standard error is not a terminal. The result `over` is a function that removes the bar.
func ProgressTo(total int, what string, options ...progressbar.Option) (done func(int), over func()) {
	told, over := Progress(what, options...)
	if told == nil {
		return nil, over
	}
	return func(n int) { told(n, total) }, over
}

// ProgressOfReading returns a reader of the file that shows a progress bar. It returns the file itself if standard
// error is not a terminal or the file's length is unknown.
func ProgressOfReading(file *os.File) (in io.Reader, over func()) {
	told, over := Progress("reading", progressbar.OptionShowBytes(true))
	info, err := file.Stat()
	if told == nil || err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return file, over
	}
	return &countedReader{file: file, of: int(info.Size()), told: told}, over
}

// countedReader shows how much of a file has been read.
type countedReader struct {
	file     *os.File
	done, of int
	told     func(done, of int)
}

// Read implements io.Reader.
func (r *countedReader) Read(p []byte) (int, error) {
	n, err := r.file.Read(p)
	r.done += n
	r.told(min(r.done, r.of), r.of)
	return n, err
}
