package sacct

import (
	"io"
	"time"

	"accordion/core"
)

// Read returns the jobs of rows that can all be read, or the error of the first that cannot.
func Read(in io.Reader, now core.Time) ([]Job, error) {
	jobs, unread, err := ReadHolds(in, "sacct", time.UTC, now)
	if err == nil && unread.Lines.Count > 0 {
		return nil, unread.Lines.First[0]
	}
	return jobs, err
}
