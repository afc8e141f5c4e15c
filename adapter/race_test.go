//go:build race

package adapter

// raceDetector: it makes everything several times slower.
const raceDetector = true
