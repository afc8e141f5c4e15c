package web

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// policy lets a page load only files of this server, run no inline scripts, and not be embedded in other pages.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guard returns a handler that accepts a request only if it reads (GET, HEAD), addresses this
// server by one of the server's names, and does not come from another site's page.
func (h *Server) guard(next http.Handler) http.Handler {
	names := h.names()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			header.Set("Allow", "GET, HEAD")
			http.Error(w, "this page is only read", http.StatusMethodNotAllowed)
		case !h.answersTo(names, r.Host):
			// Otherwise a site that points its own name to this address could read the page through a visitor's browser.
			http.Error(w, "this server does not answer to that name: the administrator adds it with [web] names", http.StatusMisdirectedRequest)
		case crossSite(r):
			http.Error(w, "other sites' pages may not ask for this", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// names returns the names by which browsers may address the server.
func (h *Server) names() []string {
	all := slices.Clone(h.options.Names)
	if host, err := os.Hostname(); err == nil {
		short, _, _ := strings.Cut(host, ".")
		all = append(all, host, short)
	}
	for i := range all {
		all[i] = strings.ToLower(all[i])
	}
	return append(all, "localhost")
}

// answersTo reports whether the server answers to the host name in a request. It always answers to an IP address, because no other site can
// control that.
func (h *Server) answersTo(names []string, host string) bool {
	if h.options.Any && len(h.options.Names) == 0 {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	return slices.Contains(names, host)
}

// crossSite reports whether another site's page made the request, according to the browser.
// Following a link from another site's page does not count.
func crossSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none" && r.Header.Get("Sec-Fetch-Mode") != "navigate"
}
