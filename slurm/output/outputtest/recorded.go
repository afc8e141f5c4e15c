// Package outputtest has what Slurm's programs print, for tests: as it was recorded, and as it would be of a job with given words.
package outputtest

import (
	"embed"
	"testing"
)

//go:embed testdata
var files embed.FS

// Recorded is a file of testdata. Those outside a folder are what Slurm 22.05.8 printed for a small cluster in which everything awkward
// happened at once.
func Recorded(t testing.TB, name string) string {
	t.Helper()
	text, err := files.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Releases are the folders of testdata that are named after releases: they hold what the clients of each printed of one cluster with 28 awkward
// jobs: a console's `show job` with a stamp, squeue under format("WORD"), and the nodes, reservations and partitions.
var Releases = []string{"20.11", "22.05", "24.11", "26.05"}

// Stamp is the console's, in front of each time.
const Stamp = "STAMPSTAMPSTAMP7"

// ShownBy is the console's list of a release.
func ShownBy(t testing.TB, release string) string {
	t.Helper()
	return Recorded(t, release+"/show.txt")
}
