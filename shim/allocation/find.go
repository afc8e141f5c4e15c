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
)

// Find is the list of the job that the environment belongs to: what accordion step has exported, else what stands in the hosts file
// that the sidecar keeps for a job that never calls it. It is empty where neither speaks of allocations: then the job has one, its own.
//
// A list of which the present job is no part is another job's, which submitted this one: it counts for nothing.
func Find(env func(name string) (value string, set bool)) (List, error) {
	id, _ := env("SLURM_JOB_ID")
	job, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, nil // no job of Slurm's
	}
	if text, _ := env(Variable); text != "" {
		list, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", Variable, err)
		}
		if list.Has(job) {
			return list, nil
		}
	}
	cluster, _ := env("SLURM_CLUSTER_NAME")
	return published(Published(os.Getuid(), cluster, job))
}

// Published is the path of a job's hosts file, on the node of its script.
func Published(uid int, cluster string, job int64) string {
	return filepath.Join("/tmp", "accordion-"+strconv.Itoa(uid), fmt.Sprintf("%s-%d.hosts", cluster, job))
}

// Mark begins the line of a hosts file that has the list. Readers that do not know it take it for a comment.
const Mark = "# allocations "

// maxPublished bounds what is read of a hosts file, in bytes.
const maxPublished = 8 << 20

// published reads the list of a hosts file; nothing where there is none, or none that only its user can have written.
func published(name string) (List, error) {
	text, err := readOwn(name)
	if err != nil {
		return nil, nil
	}
	defer text.Close()
	lines := bufio.NewScanner(io.LimitReader(text, maxPublished))
	lines.Buffer(nil, maxPublished)
	for lines.Scan() {
		said, found := strings.CutPrefix(lines.Text(), Mark)
		if !found {
			continue
		}
		list, err := Parse(said)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return list, nil
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return nil, nil
}

// readOwn opens a file that lies where nobody else can write.
func readOwn(name string) (*os.File, error) {
	folder, err := os.Lstat(filepath.Dir(name))
	switch {
	case err != nil:
		return nil, err
	case !folder.IsDir() || folder.Mode().Perm()&0o022 != 0 || int(folder.Sys().(*syscall.Stat_t).Uid) != os.Getuid():
		return nil, errors.New("others may write there")
	}
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.New("not a file")
	}
	return f, nil
}
