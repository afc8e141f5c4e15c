package chart

import (
	"errors"
	"os"
	"path/filepath"

	"accordion/traces/report"
)

// Save writes the chart's page to a file: all of it or, on an error, nothing.
func Save(path string, g report.Gantt) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".accordion-*.html")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err = g.Write(f); err != nil {
		return errors.Join(err, f.Close())
	}
	if err = f.Chmod(0o644); err != nil {
		return errors.Join(err, f.Close())
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
