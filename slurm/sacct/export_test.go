package sacct

import (
	"io"
	"time"

	"accordion/core"
)

// Read parses rows. If any row is invalid, it returns the error of the first invalid row.
func Read(in io.Reader, now core.Time) ([]Job, error) {
	jobs, unread, err := ReadHolds(in, "sacct", time.UTC, now)
	if err == nil && unread.Lines.Count > 0 {
		return nil, unread.Lines.First[0]
	}
	return jobs, err
}
