package web

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// policy is the Content-Security-Policy of all pages: a page loads only files of this server, runs no inline scripts, and cannot be
// embedded in other pages.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guard returns a handler that passes a request to `next` only if the request is GET or HEAD, uses one
// of the server's names, and does not come from another site's page.
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
			// Otherwise another site could point its own host name to this address, and read the page through the browser of a visitor.
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

// answersTo reports whether the server answers a request with the given host name. If the host is an IP address, it always answers, because
// another site cannot make an IP address point to this server.
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

// crossSite reports whether, according to the browser, a page of another site made the request. A
// request that follows a link in such a page does not count.
func crossSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none" && r.Header.Get("Sec-Fetch-Mode") != "navigate"
}
