// Package outputtest provides output of Slurm's programs for tests. Some of it was recorded. It also generates the
// output for a job with given texts.
package outputtest

import (
	"embed"
	"testing"
)

//go:embed testdata
var files embed.FS

// Recorded returns a file of testdata. Files outside a release's folder are output of Slurm 22.05.8 for a small
// cluster with many difficult cases.
func Recorded(t testing.TB, name string) string {
	t.Helper()
	text, err := files.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Releases lists the folders of testdata that are named after releases. Each has the output of that release's
// clients for one cluster with 28 difficult jobs: a console's `show job` with a stamp, squeue with
// SqueueFormat("WORD"), and the nodes, reservations and partitions.
var Releases = []string{"20.11", "22.05", "24.11", "26.05"}

// Stamp is the text that the recorded console printed before each time.
const Stamp = "STAMPSTAMPSTAMP7"

// ShownBy returns the list of jobs recorded from a console of the release.
func ShownBy(t testing.TB, release string) string {
	t.Helper()
	return Recorded(t, release+"/show.txt")
}
