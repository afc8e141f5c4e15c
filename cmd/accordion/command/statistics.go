package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"accordion/core/sizing"
	"accordion/traces/input"
)

// mostStatistics is the maximum number of bytes that are read of a file. The files that Accordion writes have some
// kilobytes.
const mostStatistics = 1 << 20

// ReadStatistics reads a file of arrival statistics. Its errors are usage errors.
func ReadStatistics(path string) (sizing.File, error) {
	fail := func(err error) (sizing.File, error) {
		return sizing.File{}, Usage(fmt.Errorf("read arrival statistics: %s: %w", path, err))
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
		return sizing.File{}, Usage(fmt.Errorf("read arrival statistics: %w", err))
	}
	defer opened.Close()
	text, err := io.ReadAll(io.LimitReader(opened, mostStatistics+1))
	if err != nil {
		return fail(err)
	}
	if len(text) > mostStatistics {
		return fail(errors.New("this is not a statistics file: it is larger than 1 MiB"))
	}
	f, err := sizing.Parse(text)
	if err != nil {
		return fail(err)
	}
	return f, nil
}
