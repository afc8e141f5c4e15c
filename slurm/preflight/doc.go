// Package preflight says what of a cluster's settings, partitions and nodes keeps jobs from growing soundly, and how to mend it. It
// changes nothing.
package preflight
