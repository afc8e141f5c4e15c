package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"accordion/core"
)

// Duration parses a duration on the command line. It also accepts loose forms, such as 1.5h and 20min.
func Duration(text string) (core.Time, bool) { return core.ParseDuration(core.TidyDuration(text)) }

// The kinds of output that a flag names.
const (
	AFile   = "file"
	AFolder = "folder" // is created if it does not exist
)

// output is the annotation of a flag that names an output.
const output = "accordion_output"

// Output marks a flag that names a file or folder. The command checks that it can be written before the work starts.
func Output(c *cobra.Command, flag, kind string) {
	if err := c.Flags().SetAnnotation(flag, output, []string{kind}); err != nil {
		panic(err) // there is no such flag
	}
}

// checkOutputs returns a usage error if an output of a command cannot be written, or nil.
func checkOutputs(cmd *cobra.Command, _ []string) (err error) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		kind, path := f.Annotations[output], f.Value.String()
		if kind == nil || path == "" || path == "-" || err != nil {
			return
		}
		err = writable(path, kind[0] == AFolder)
	})
	if err != nil {
		return Usage(err)
	}
	return nil
}

// writable returns the reason why a file or folder cannot be written, or nil.
func writable(path string, folder bool) error {
	what, in := "write "+path, filepath.Dir(path)
	if folder {
		what, in = "write into "+path, path
	} else if there, err := os.Stat(path); err == nil && !there.Mode().IsRegular() {
		return fmt.Errorf("%s: it is a folder or a device; name a file", what)
	}
	there, err := os.Stat(in)
	for folder && errors.Is(err, fs.ErrNotExist) && filepath.Dir(in) != in { // the folder will be created below the nearest parent that exists
		in = filepath.Dir(in)
		there, err = os.Stat(in)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: there is no folder %s; make it first", what, in)
	case errors.Is(err, unix.ENOTDIR), err == nil && !there.IsDir():
		return fmt.Errorf("%s: %s is not a folder", what, in)
	case err == nil:
		err = unix.Access(in, unix.W_OK|unix.X_OK)
	}
	if err != nil {
		return fmt.Errorf("%s: folder %s: %w", what, in, err)
	}
	return nil
}
