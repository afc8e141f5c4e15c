// Package guides is for tests: the guides as their readers have them, as a site. What they say is to be typed is tried in cmd/accordion.
package guides
