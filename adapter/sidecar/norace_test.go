//go:build !race

package sidecar

// raceDetector: it makes everything several times slower.
const raceDetector = false
