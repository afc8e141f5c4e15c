package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// task returns the command of each task of a part. It is a shell script that runs for a millisecond. The script adds the part's first
// numbers to the numbers that srun gave the task, opens files whose names contain these sums, and executes the user's program.
func (p Plan) task(of Part, s streams, program []string) []string {
	script := fmt.Sprintf("export ACCORDION_PROCID=$((SLURM_PROCID + %d)) ACCORDION_NTASKS=%d ACCORDION_NODEID=$((SLURM_NODEID + %d)) ACCORDION_NNODES=%d\n",
		of.FirstTask, p.Tasks, of.FirstNode, p.Nodes)
	if s.in.kind == perTask {
		script += "exec <" + s.in.shell + "\n"
	}
	return append([]string{"/bin/sh", "-c", script + s.redirect() + `exec "$@"`, "accordion-run"}, program...)
}

// Resolve finds a program as srun does. It looks for a name without a slash in the working directory, then in PATH. If it finds no program,
// it returns the name unchanged, and the task reports the error.
func Resolve(program string) string {
	if program == "" || strings.Contains(program, "/") {
		return program
	}
	if here, err := filepath.Abs(program); err == nil {
		if info, err := os.Stat(here); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return here
		}
	}
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	return program
}
