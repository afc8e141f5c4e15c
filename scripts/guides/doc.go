// Package guides is for tests: the guides as their readers have them, as a site, and every command in them.
package guides
