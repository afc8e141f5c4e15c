package live

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"

	"accordion/adapter"
	"accordion/adapter/view"
)

// Wall shows several batch systems. On a terminal it draws one below the other; elsewhere it writes a line for each change, which begins
// with the batch system's name. Several goroutines may use its panes at the same time.
//
//	wall := live.NewWall(os.Stdout, live.Options{Title: "a", Begin: begin}, live.Options{Title: "b", Begin: begin})
//	defer wall.Close()
//	err := wall.Pane(1).Show(snapshot, view)
type Wall struct {
	mu     sync.Mutex
	out    io.Writer
	panes  []*Pane
	height int // height of the terminal
	shown  int // number of lines on the terminal
}

// Pane is the part of a wall that shows one batch system.
type Pane struct {
	wall   *Wall
	screen *Screen
	lines  []string // the lines that were drawn last
	said   string   // text in place of the picture
}

// NewWall returns a wall with a pane for each batch system.
func NewWall(out io.Writer, all ...Options) *Wall {
	w := &Wall{out: out}
	width, height, drawn := terminal(out)
	for _, o := range all {
		s := New(io.Discard, o)
		if drawn {
			s.picture = newPicture(0, 0)
		}
		w.panes = append(w.panes, &Pane{wall: w, screen: s})
	}
	w.size(width, height)
	if drawn {
		fmt.Fprint(out, hideCursor)
	}
	return w
}

// size divides the terminal among the panes.
func (w *Wall) size(width, height int) {
	w.height = height
	for _, p := range w.panes {
		if picture := p.screen.picture; picture != nil {
			picture.width, picture.height = width, max(2, height/len(w.panes)) // a picture has at least one line
		}
	}
}

// Pane returns the pane of the i-th batch system.
func (w *Wall) Pane(i int) *Pane { return w.panes[i] }

// Show shows the present state of the batch system and of the sidecar.
func (p *Pane) Show(now *adapter.Snapshot, view view.Status) error {
	p.wall.mu.Lock()
	defer p.wall.mu.Unlock()
	news := p.screen.take(now)
	if p.said != "" && len(news) == 0 {
		news = []string{"answers again"}
	}
	p.said = ""
	if p.screen.picture == nil {
		return p.write(news)
	}
	if width, height, ok := terminal(p.wall.out); ok {
		p.wall.size(width, height)
	}
	p.lines = p.screen.draw(now, view)
	return p.wall.draw()
}

// Say shows a text in place of the picture. It writes the same text only once.
func (p *Pane) Say(text string) error {
	p.wall.mu.Lock()
	defer p.wall.mu.Unlock()
	if text == p.said {
		return nil
	}
	p.said = text
	if p.screen.picture == nil {
		return p.write([]string{clip(text, len(text))})
	}
	p.lines = []string{clip(p.screen.options.Title+"   "+text, p.screen.picture.width)}
	return p.wall.draw()
}

// write writes lines if there is no terminal.
func (p *Pane) write(lines []string) error {
	var b bytes.Buffer
	for _, line := range lines {
		fmt.Fprintf(&b, "%-8s  %s\n", p.screen.options.Title, line)
	}
	_, err := p.wall.out.Write(b.Bytes())
	return err
}

// draw draws all panes.
func (w *Wall) draw() error {
	var all [][]string
	for _, p := range w.panes {
		all = append(all, p.lines)
	}
	lines := slices.Concat(all...)
	lines = lines[:min(len(lines), max(1, w.height-1))]
	before := w.shown
	w.shown = len(lines)
	return paint(w.out, before, lines)
}

// Close keeps the last pictures and restores the terminal.
func (w *Wall) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.panes[0].screen.picture != nil {
		fmt.Fprint(w.out, showCursor)
	}
}
