package allocation

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"accordion/core/hostlist"
)

// Hosts is the content of the hosts file, which the sidecar updates for a job that never calls accordion step (docs/step.md).
type Hosts struct {
	Generation  int
	Step, Steps int
	Until       int64    // Unix second
	Nodes       []string // in natural order, at least one
	Allocations List     // of a job with companions; nil if the job's own allocation has all nodes
}

// Published returns the path of a job's hosts file, on the node of the job's script. If another user owns the usual folder in /tmp, the
// file is in a private folder in /tmp.
func Published(cluster string, job int64) string {
	dir, _ := FindDirectory("/tmp")
	return filepath.Join(dir, fmt.Sprintf("%s-%d.hosts", cluster, job))
}

// mark begins a line with a part of the list of allocations. Programs that do not know this mark treat the line as a comment. Some programs
// accept no line of more than 1,023 bytes. So the list may be spread over several lines, and an allocation over several words.
const mark = "# allocations "

// maxHosts limits how many bytes of a hosts file are read.
const maxHosts = 8 << 20

// ReadHosts reads a hosts file. The error is fs.ErrNotExist if there is no file, or if another user may have written it.
func ReadHosts(name string) (Hosts, error) {
	f, err := openOwn(name)
	if err != nil {
		return Hosts{}, err
	}
	defer f.Close()
	h, err := parseHosts(io.LimitReader(f, maxHosts))
	if err != nil {
		return Hosts{}, fmt.Errorf("%s: %w", name, err)
	}
	return h, nil
}

func parseHosts(r io.Reader) (h Hosts, err error) {
	var allocations []string
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, maxHosts)
	for first := true; scan.Scan(); first = false {
		line := scan.Text()
		list, listed := strings.CutPrefix(line, mark)
		switch {
		case first && !strings.HasPrefix(line, "#"):
			return Hosts{}, errors.New("it does not begin like a hosts file")
		case first:
			err = h.head(line)
		case listed:
			allocations = append(allocations, strings.Fields(list)...)
		case line != "" && !strings.HasPrefix(line, "#"):
			var names []string
			names, err = hostlist.Expand(line)
			h.Nodes = append(h.Nodes, names...)
		}
		if err != nil {
			return Hosts{}, err
		}
	}
	if err := scan.Err(); err != nil {
		return Hosts{}, err
	}
	if len(h.Nodes) == 0 {
		return Hosts{}, errors.New("it has no nodes")
	}
	hostlist.Sort(h.Nodes)
	parts, err := parse(allocations)
	if err != nil {
		return Hosts{}, err
	}
	h.Allocations = parts.joined()
	return h, nil
}

// head parses the first line. It ignores unknown words.
func (h *Hosts) head(line string) error {
	for word := range strings.FieldsSeq(strings.TrimPrefix(line, "#")) {
		name, value, _ := strings.Cut(word, "=")
		var err error
		switch name {
		case "generation":
			h.Generation, err = strconv.Atoi(value)
		case "step":
			h.Step, err = strconv.Atoi(value)
		case "steps":
			h.Steps, err = strconv.Atoi(value)
		case "until":
			h.Until, err = strconv.ParseInt(value, 10, 64)
		}
		if err != nil {
			return fmt.Errorf("%s: %.60q is not a number", name, value)
		}
	}
	return nil
}

// openOwn opens a file in a directory that no other user can write to.
func openOwn(name string) (*os.File, error) {
	folder, err := os.Lstat(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	if !folder.IsDir() || folder.Mode().Perm()&0o022 != 0 || int(folder.Sys().(*syscall.Stat_t).Uid) != os.Getuid() {
		return nil, fmt.Errorf("%s: %w: other users can write to its folder", name, os.ErrNotExist)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s: %w as a file", name, os.ErrNotExist)
	}
	return f, nil
}
