// Package guides tests the guides' site as readers see it. The commands in the guides are tested in cmd/accordion.
package guides
