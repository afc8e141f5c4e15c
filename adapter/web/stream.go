package web

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// Limits for readers of the stream.
const (
	mostStreams = 1_000 // number of streams of all clients; when another stream begins, the client with the most streams loses its oldest one
	// slowest is the time limit for writing a message to a reader. A slower reader is disconnected.
	slowest = 10 * time.Second
	// quiet is the time without a message after which an empty line is sent. The line keeps the
	// connection open, and shows whether the reader is still connected.
	quiet = 20 * time.Second
)

// stream sends a reader the whole newest version, and then the changes in each later version, until the
// reader disconnects. A reader that was too slow to receive a version receives the whole newest
// version next.
func (h *Server) stream(w http.ResponseWriter, r *http.Request) {
	ctx, evict := context.WithCancel(r.Context())
	defer evict()
	leave, err := h.streams.Enter(clientOf(r), evict)
	if err != nil {
		w.Header().Set("Retry-After", "30")
		http.Error(w, "too many readers: try again in half a minute", http.StatusServiceUnavailable)
		return
	}
	defer leave()
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // makes nginx pass on messages immediately
	header.Set("Vary", "Accept-Encoding")
	out := reader{w: w, control: http.NewResponseController(w), packs: strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")}
	if out.packs {
		header.Set("Content-Encoding", "gzip")
	}
	if r.Method == http.MethodHead {
		return
	}
	// Without this, the server's deadline for reading requests would end the stream.
	if err := out.control.SetReadDeadline(time.Time{}); err != nil || !out.begin() {
		return
	}
	idle := time.NewTimer(quiet)
	defer idle.Stop()
	for had := uint64(0); ; {
		e, fresh := h.latest()
		if e != nil && e.number != had {
			f := &e.whole
			if had > 0 && e.number == had+1 && e.news != nil {
				f = e.news
			}
			if !out.send(f.bytes()) {
				return
			}
			had = e.number
			idle.Reset(quiet)
		}
		select {
		case <-fresh:
		case <-idle.C:
			if !out.send(stillHere, stillHerePacked) {
				return
			}
			idle.Reset(quiet)
		case <-ctx.Done():
			return
		}
	}
}

var (
	stillHere       = []byte(": still here\n\n")
	stillHerePacked = pack(stillHere)
)

// reader is the connection of a client that reads the stream.
type reader struct {
	w       http.ResponseWriter
	control *http.ResponseController
	packs   bool
}

// begin sends the beginning of the stream, and reports whether that succeeded.
func (r *reader) begin() bool {
	text := []byte("retry: 3000\n\n")
	if r.packs {
		return r.send(nil, append(packedHeader[:len(packedHeader):len(packedHeader)], pack(text)...))
	}
	return r.send(text, nil)
}

// send sends a message, and reports whether that succeeded.
func (r *reader) send(text, packed []byte) bool {
	if r.packs {
		text = packed
	}
	if err := r.control.SetWriteDeadline(time.Now().Add(slowest)); err != nil {
		return false
	}
	if _, err := r.w.Write(text); err != nil {
		return false
	}
	return r.control.Flush() == nil
}
