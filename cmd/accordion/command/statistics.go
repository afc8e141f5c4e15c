package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"accordion/core/arrivals"
	"accordion/traces/input"
)

// mostStatistics bounds what is read of a file: those that are written have some kilobytes.
const mostStatistics = 1 << 20

// ReadStatistics reads a file of statistics of arrivals. Its errors are the user's.
func ReadStatistics(path string) (arrivals.File, error) {
	fail := func(err error) (arrivals.File, error) {
		return arrivals.File{}, Usage(fmt.Errorf("reading statistics of arrivals: %s: %w", path, err))
	}
	file, err := os.Open(path)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return fail(err)
	}
	defer file.Close()
	opened, err := input.Open(file, path)
	if err != nil {
		return arrivals.File{}, Usage(fmt.Errorf("reading statistics of arrivals: %w", err))
	}
	defer opened.Close()
	text, err := io.ReadAll(io.LimitReader(opened, mostStatistics+1))
	if err != nil {
		return fail(err)
	}
	if len(text) > mostStatistics {
		return fail(errors.New("this is no file of statistics: it is larger than 1 MiB"))
	}
	f, err := arrivals.Parse(text)
	if err != nil {
		return fail(err)
	}
	return f, nil
}
