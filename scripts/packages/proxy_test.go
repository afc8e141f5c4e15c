package main

import (
	"context"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"accordion/internal/browser"
)

// The lines of the administrator guide configure a real nginx in front of the page. The test uses the socket and
// the path of the guide. Events must arrive without delay.
func TestThePageBehindNginxAsTheGuideHasIt(t *testing.T) {
	packages := packagesOf(t, newer)
	guide, err := os.ReadFile("../../docs/administrator.md")
	if err != nil {
		t.Fatal(err)
	}
	listen := regexp.MustCompile(`(?m)^    \[web\]\n    listen = "/.*\n`).FindString(string(guide))
	location := regexp.MustCompile(`(?ms)^    location /accordion/ \{.*?^    \}\n`).FindString(string(guide))
	if listen == "" || location == "" {
		t.Fatal("docs/administrator.md has no lines for nginx any more")
	}
	s := bootHost(t, "bookworm", packages.folder)
	out, err := s.run(`set -e
apt install ./accordion_*.deb ./accordion-controller_*.deb
cat >/etc/accordion/accordion.toml <<'END'
system = "embedded"
cluster = "bare"
` + listen + `END
cat >/etc/nginx/sites-available/default <<'END'
server {
	listen 127.0.0.1:80;
` + location + `}
END
systemctl start accordion.service
systemctl restart nginx.service`)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root := "http://" + s.reach("127.0.0.1:80") + "/accordion"

	// Both the lines in the guide and the page's own headers make nginx forward events without delay.
	ctx, end := context.WithTimeout(t.Context(), 15*time.Second)
	defer end()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, root+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	first := make([]byte, 6)
	if n, err := answer.Body.Read(first); err != nil || answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		t.Errorf("events are answered %s, %v, %q, error %v", answer.Status, answer.Header, first[:n], err)
	}

	b := browser.New(t, root)
	b.Go(root + "/")
	b.Await(`document.documentElement.dataset.ready !== undefined && document.getElementById("live").textContent.startsWith("live")`)
	b.Quiet()
}
