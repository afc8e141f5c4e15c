//go:build race

package sidecar

// raceDetector reports whether the race detector is on. It makes tests several times slower.
const raceDetector = true
