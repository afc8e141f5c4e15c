package hostfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"accordion/adapter"
	"accordion/core"
)

// Kept returns the hosts files of a cluster's jobs on this host, in the folders that Script creates
// under the given folder (/tmp). It leaves out files in folders of other users.
func Kept(under, cluster string, now time.Time) []adapter.Leftover {
	var all []adapter.Leftover
	paths, _ := filepath.Glob(filepath.Join(under, adapter.Prefix+"*", "*.hosts")) // Glob fails only for a malformed pattern
	for _, path := range paths {
		number, ours := strings.CutPrefix(strings.TrimSuffix(filepath.Base(path), ".hosts"), cluster+"-")
		id, err := strconv.ParseInt(number, 10, 64)
		user, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(filepath.Dir(path)), adapter.Prefix), ".")
		folder, err2 := os.Lstat(filepath.Dir(path))
		file, err3 := os.Lstat(path)
		if !ours || err != nil || err2 != nil || err3 != nil || !folder.IsDir() || !file.Mode().IsRegular() {
			continue
		}
		if owner, ok := folder.Sys().(*syscall.Stat_t); !ok || fmt.Sprint(owner.Uid) != user {
			continue
		}
		all = append(all, adapter.Leftover{What: "hosts file", Name: path, Job: adapter.Key{ID: core.JobID(id)},
			Age: max(0, core.Time(now.Sub(file.ModTime())/time.Second)), Fix: "rm " + path})
	}
	return all
}
