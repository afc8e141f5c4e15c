package web

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// policy lets a page load what this server has and nothing else, run no text as a script, and stand in no other page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guarded is a handler behind which only those come who may: who reads, asks for this server by one of its names, and is no other site's page.
func (h *Server) guarded(next http.Handler) http.Handler {
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
		case !h.called(names, r.Host):
			// A site that lets its own name stand for our address would read the page in the name of whoever visits it.
			http.Error(w, "this server does not answer to that name: the administrator adds it with [web] names", http.StatusMisdirectedRequest)
		case foreign(r):
			http.Error(w, "other sites' pages may not ask for this", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// names are those under which browsers may ask.
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

// called says whether the server answers to the name that a browser asked for. An address is nobody's to give away.
func (h *Server) called(names []string, host string) bool {
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

// foreign says whether another site's page asks, as browsers tell. Following a link from there is no such thing.
func foreign(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none" && r.Header.Get("Sec-Fetch-Mode") != "navigate"
}
