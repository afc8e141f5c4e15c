package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"accordion/internal/testenv"
)

func TestRequestsThatAreAccepted(t *testing.T) {
	h, address := open(t, Options{Names: []string{"Jobs.example.org"}})
	shows(t, h, clusterOf(8, 2, 3))
	for _, c := range []struct {
		what   string
		path   string
		change func(*http.Request)
		want   int
	}{
		{"the page", "/", nil, 200},
		{"its script", "/main.js", nil, 200},
		{"a job", "/job?id=1", nil, 200},
		{"a job that nobody knows", "/job?id=4711", nil, 404},
		{"a job without a number", "/job?id=1%20or%201", nil, 400},
		{"a template", "/job.html", nil, 404},
		{"a folder", "/assets/", nil, 404},
		{"by address", "/", func(r *http.Request) { r.Host = "[::1]:9821" }, 200},
		{"by the configured name, however it is written", "/", func(r *http.Request) { r.Host = "jobs.EXAMPLE.org.:80" }, 200},
		{"as localhost", "/", func(r *http.Request) { r.Host = "localhost:1" }, 200},
		{"another name, which was made ours", "/", func(r *http.Request) { r.Host = "evil.example.com" }, 421},
		{"a name that begins as ours", "/events", func(r *http.Request) { r.Host = "localhost.evil.example.com:9821" }, 421},
		{"no name", "/", func(r *http.Request) { r.Host = "-" }, 421},
		{"post", "/", func(r *http.Request) { r.Method = "POST" }, 405},
		{"delete", "/job?id=1", func(r *http.Request) { r.Method = "DELETE" }, 405},
		{"options", "/events", func(r *http.Request) { r.Method = "OPTIONS" }, 405},
		{"head", "/", func(r *http.Request) { r.Method = "HEAD" }, 200},
		{"head of the stream", "/events", func(r *http.Request) { r.Method = "HEAD" }, 200},
		{"another site's page", "/events", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "cors")
		}, 403},
		{"a link on another site", "/", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
		}, 200},
		{"the page itself", "/main.js", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }, 200},
	} {
		answer := get(t, address+c.path, c.change)
		if answer.StatusCode != c.want {
			t.Errorf("%s: status %d, want %d", c.what, answer.StatusCode, c.want)
		}
		for name, want := range map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Access-Control-Allow-Origin": ""} {
			if got := answer.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", c.what, name, got, want)
			}
		}
	}
}

// The test writes the requests without an HTTP client, because clients clean up paths, and an attacker would not.
func TestNoPathLeadsToAFile(t *testing.T) {
	_, address := open(t, Options{})
	for _, path := range []string{"/../../../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/./page.css", "/assets/page.css", "/page.css/..", `/..\..\etc`, "/page.html", "/main.js%00", "/.."} {
		c, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path)
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		c.Close()
		if answer.StatusCode != 404 && answer.StatusCode != 400 || strings.Contains(string(body), "root:") {
			t.Errorf("%s: status %d, %.80q", path, answer.StatusCode, body)
		}
	}
}

func TestBehindAUnixSocketTheProxyChecksNames(t *testing.T) {
	for _, c := range []struct {
		names []string
		host  string
		want  bool
	}{{nil, "jobs.example.org", true}, {[]string{"jobs.example.org"}, "jobs.example.org", true}, {[]string{"jobs.example.org"}, "other.example.org", false}} {
		h := New(Options{Any: true, Names: c.names})
		if got := h.answersTo(h.names(), c.host); got != c.want {
			t.Errorf("%v, asked as %s: %v", c.names, c.host, got)
		}
	}
}

func TestSocketIsOpenToAllAndReplacesOneOfADeadServer(t *testing.T) {
	dir, err := os.MkdirTemp("", "web") // t.TempDir is too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "sub", "web.sock")
	first, err := listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("%v, %v", info, err)
	}
	go func() {
		for c, err := first.Accept(); err == nil; c, err = first.Accept() {
			c.Close()
		}
	}()
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "another process answers") || !strings.Contains(err.Error(), "[web] listen") {
		t.Errorf("a second one: %v", err)
	}
	first.(*net.UnixListener).SetUnlinkOnClose(false) // the socket remains, as after a server was killed
	first.Close()
	second, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("a file: %v", err)
	}
}

func TestSocketInAFolderOfAnotherUserIsRefused(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string) error{
		"of another user": func(t *testing.T, dir string) error {
			testenv.Needs(t, testenv.Root)
			return os.Chown(dir, 12345, 12345)
		},
		"all can write": func(_ *testing.T, dir string) error { return os.Chmod(dir, 0o777) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := change(t, dir); err != nil {
				t.Fatal(err)
			}
			l, err := Listen(filepath.Join(dir, "page"))
			if err == nil {
				l.Close()
				t.Error("it listens there")
			} else if !strings.Contains(err.Error(), "folder "+dir) {
				t.Error(err)
			}
		})
	}
}

// The umask in this test is the one that accordion.service sets (UMask=0077).
func TestEveryoneReachesTheSocketWhateverTheUmask(t *testing.T) {
	top, err := os.MkdirTemp("", "umask") // t.TempDir is too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(top)
	defer unix.Umask(unix.Umask(0o077))
	path := filepath.Join(top, "a", "b", "sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, dir := range []string{filepath.Join(top, "a"), filepath.Join(top, "a", "b")} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: mode %v (%v), want 0755", dir, info.Mode(), err)
		}
	}
}
