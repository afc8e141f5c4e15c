package web

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"

	"accordion/adapter/connlimit"
	"accordion/adapter/folder"
	"accordion/charts"
)

//go:embed assets
var files embed.FS

// asset is a file that pages load.
type asset struct {
	kind, tag string
	data      []byte
}

// assets has all files that pages load, by URL path. No other path leads to a file.
var assets = func() map[string]asset {
	all := map[string]asset{}
	add := func(file string, data []byte) {
		if ext := path.Ext(file); ext == ".js" || ext == ".css" {
			data = []byte(charts.Bare(string(data)))
		}
		sum := sha256.Sum256(data)
		name, kind := "/"+file, kinds[path.Ext(file)]
		if kind == "" {
			kind = mime.TypeByExtension(path.Ext(file))
		}
		if file == "page.html" {
			name = "/"
		}
		all[name] = asset{kind, `"` + hex.EncodeToString(sum[:12]) + `"`, data}
	}
	entries, err := files.ReadDir("assets")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		data, err := files.ReadFile("assets/" + e.Name())
		if err != nil {
			panic(err)
		}
		add(e.Name(), data)
	}
	add("charts.js", []byte(charts.Module()))
	delete(all, "/job.html") // job.html is a template
	return all
}()

// kinds maps file extensions to media types. The tables of this host could have other types.
var kinds = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// Handler returns the handler for browsers.
func (h *Server) Handler() http.Handler {
	return h.guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/events":
			h.stream(w, r)
		case "/job":
			h.job(w, r)
		default:
			a, known := assets[r.URL.Path]
			if !known {
				http.Error(w, "there is nothing here; the page is at its root", http.StatusNotFound)
				return
			}
			w.Header().Set("Content-Type", a.kind)
			w.Header().Set("Cache-Control", "no-cache")
			w.Header().Set("ETag", a.tag)
			if r.Header.Get("If-None-Match") == a.tag {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			w.Write(a.data)
		}
	}))
}

// Listen listens at an address, which is HOST:PORT or the absolute path of a Unix socket. It creates the folder of the socket if necessary.
func Listen(address string) (net.Listener, error) {
	l, err := listen(address)
	if err != nil {
		return nil, fmt.Errorf("listen for browsers: %w; give another address in [web] listen, or none", err)
	}
	return bound(l), nil
}

func listen(address string) (net.Listener, error) {
	if !filepath.IsAbs(address) {
		return net.Listen("tcp", address)
	}
	if err := folder.MakeOpen(filepath.Dir(address)); err != nil {
		return nil, err
	}
	if err := trusted(filepath.Dir(address)); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(address); err == nil {
		if info.Mode().Type() != os.ModeSocket {
			return nil, fmt.Errorf("%s is not a socket; move it away", address)
		}
		if c, err := net.DialTimeout("unix", address, time.Second); err == nil {
			c.Close()
			return nil, fmt.Errorf("another process answers at %s", address)
		}
		if err := os.Remove(address); err != nil { // a server that was killed left this socket
			return nil, err
		}
	}
	l, err := net.Listen("unix", address)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(address, 0o666); err != nil { // every user may read the page, as every user may call squeue
		l.Close()
		return nil, err
	}
	return l, nil
}

// trusted returns an error if another user could replace a socket in the folder. That is possible if another user, except root, owns the
// folder. It is also possible if other users can write to the folder, unless the folder lets only owners remove files, like /tmp.
func trusted(folder string) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 && int(owner) != os.Geteuid() {
		return fmt.Errorf("folder %s belongs to user %d; give it to root: chown root %s", folder, owner, folder)
	}
	if info.Mode().Perm()&0o022 != 0 && info.Mode()&os.ModeSticky == 0 {
		return fmt.Errorf("other users can write to folder %s; forbid it: chmod go-w %s", folder, folder)
	}
	return nil
}

// connections limits the open connections. If a client has too many, its newest connection replaces its oldest. That does no harm,
// because browsers connect again.
var connections = connlimit.Limits{Total: 2_048, PerClient: 1_024, Replace: true}

// bound returns a listener that enforces the limits in connections.
func bound(l net.Listener) net.Listener { return connlimit.Listen(l, connections) }

// clientKey is the key of a request's client in the request's context.
type clientKey struct{}

// clientOf returns the client from which a request comes. All readers behind the same proxy count as one client.
func clientOf(r *http.Request) connlimit.Client {
	c, _ := r.Context().Value(clientKey{}).(connlimit.Client)
	return c
}

// Serve answers requests on the listener, and makes versions of snapshots, until ctx ends. Then it closes the listener and returns nil.
func (h *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: h.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 20 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, clientKey{}, connlimit.Of(c))
		},
	}
	composed := make(chan struct{})
	ctx, end := context.WithCancel(ctx)
	go func() { defer close(composed); h.compose(ctx) }()
	defer func() { end(); <-composed }()
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve the page on %s: %w", l.Addr(), err)
	}
	return nil
}
