// Package guides tests the site of the guides as readers see it. Tests in cmd/accordion run the commands in the
// guides.
package guides
