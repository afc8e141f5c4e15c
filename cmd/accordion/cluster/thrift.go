package cluster

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
)

// What serves beside a batch system's own daemons is to take little of their machine's memory. Two things save much of it and cost little:
// garbage is collected earlier, and of the program's file what only its beginning needed does not stay in memory.

// collecting is by how much, in per cent of what lives, the heap may grow before garbage is collected; 100 unless said. Where 2,000 launchers come
// it costs a tenth more of processor time.
const collecting = 50

// thrifty has a process that serves take less memory. What its operator set (GOGC, GOMEMLIMIT) stays.
func thrifty() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(collecting)
	}
	_ = forgetBeginning() // what is served is the same without
}

// forgetBeginning takes those pages of the program's file out of the process's memory that nobody writes. The ones that are used come back, out of
// the kernel's cache of files; what built the command line, read the configuration and began all else does not. (Of a file that was just written
// the cache has large pieces, and each comes back whole: then nothing is saved.)
func forgetBeginning() error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return err
	}
	for _, s := range unwritten(string(text), program) {
		for _, advice := range []uintptr{syscall.MADV_NOHUGEPAGE, syscall.MADV_DONTNEED} { // else they come back 2 MiB at a time
			if _, _, errno := syscall.Syscall(syscall.SYS_MADVISE, s.from, s.to-s.from, advice); errno != 0 {
				return errno
			}
		}
	}
	return nil
}

// span is addresses from one to another.
type span struct{ from, to uintptr }

// unwritten is where a file is in a process's memory as it is in the file, by the process's smaps: not where it may be written, nor where it was
// before that was forbidden (relocations), be that in memory or swapped out.
func unwritten(smaps, file string) (all []span) {
	var here span
	of := false // here is a part of the file, and unwritten as far as is read
	for line := range strings.Lines(smaps) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "Anonymous:", "Swap:":
			of = of && strings.TrimSpace(value) == "0 kB"
		case "VmFlags:": // the last of each
			if of {
				all = append(all, here)
			}
			of = false
		default:
			if strings.HasSuffix(key, ":") {
				continue
			}
			_, err := fmt.Sscanf(key, "%x-%x", &here.from, &here.to)
			rights, _, _ := strings.Cut(value, " ")
			of = err == nil && !strings.Contains(rights, "w") && strings.HasSuffix(value, " "+file)
		}
	}
	return all
}
