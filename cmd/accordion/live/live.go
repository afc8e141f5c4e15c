// Package live shows a batch system while it works. On a terminal it draws a picture and redraws it in place; elsewhere it writes a line
// for each change.
//
// It shows the same adapter.Snapshot that the sidecar reads, so it works with every batch system.
//
//	screen := live.New(os.Stdout, live.Options{Title: "16 nodes", Begin: begin})
//	defer screen.Close()
//	for … {
//		screen.Show(snapshot, view)
//	}
package live

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"accordion/adapter"
	"accordion/adapter/view"
)

// Options are how to show a batch system.
type Options struct {
	Title  string
	Begin  time.Time     // the time that is shown as 0:00
	Column time.Duration // the time that one column of the picture covers; 0 means 20 s
}

// Screen shows the snapshots of one batch system, one after the other.
type Screen struct {
	out     io.Writer
	options Options
	picture *picture // nil without a terminal, when only lines are written
	shown   int      // number of lines of the picture on the terminal
	last    *adapter.Snapshot
	news    []string // the latest changes
	columns [][]hold // what each node did, by column
	first   int      // index of columns[0], counted from Begin
	names   map[adapter.Key]string
}

// New returns a screen. It draws in place if `out` is a terminal that supports it (TERM is not dumb).
func New(out io.Writer, o Options) *Screen {
	if o.Column <= 0 {
		o.Column = 20 * time.Second
	}
	s := &Screen{out: out, options: o, names: map[adapter.Key]string{}}
	if width, height, ok := terminal(out); ok {
		s.picture = newPicture(width, height)
		fmt.Fprint(out, hideCursor)
	}
	return s
}

// Show shows the present state of the batch system and of the sidecar.
func (s *Screen) Show(now *adapter.Snapshot, view view.Status) error {
	news := s.take(now)
	if s.picture == nil {
		var b bytes.Buffer
		for _, line := range news {
			b.WriteString(line + "\n")
		}
		_, err := s.out.Write(b.Bytes())
		return err
	}
	if width, height, ok := terminal(s.out); ok {
		s.picture.width, s.picture.height = width, height
	}
	lines := s.draw(now, view)
	before := s.shown
	s.shown = len(lines)
	return paint(s.out, before, lines)
}

// take stores the present state and returns the changes.
func (s *Screen) take(now *adapter.Snapshot) []string {
	news := s.changes(now)
	s.record(now)
	s.last = now
	if s.picture != nil {
		s.news = append(s.news, news...)
	}
	return news
}

// paint draws lines on a terminal in place of the earlier ones.
func paint(out io.Writer, before int, lines []string) error {
	var b bytes.Buffer
	if before > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", before)
	}
	for _, line := range lines {
		b.WriteString("\r" + line + clearRight + "\n")
	}
	b.WriteString(clearBelow)
	_, err := out.Write(b.Bytes())
	return err
}

// Close keeps the last picture and restores the terminal.
func (s *Screen) Close() {
	if s.picture != nil {
		fmt.Fprint(s.out, showCursor)
	}
}

const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	clearRight = "\x1b[0m\x1b[K"
	clearBelow = "\x1b[J"
)

// terminal reports whether `out` is a terminal that supports drawing, and returns its size.
func terminal(out io.Writer) (width, height int, ok bool) {
	f, isFile := out.(*os.File)
	if !isFile || os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "" {
		return 0, 0, false
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, false
	}
	if size.Col == 0 || size.Row == 0 { // a terminal of unknown size
		return 80, 24, true
	}
	return int(size.Col), int(size.Row), true
}
