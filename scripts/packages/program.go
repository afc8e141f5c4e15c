package main

import (
	"cmp"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// compile builds the program for packages. The program does not contain the name of the build folder. It is
// stripped, and is a position-independent executable (PIE).
func compile(ctx context.Context, o options, to string) error {
	flags := `-s -w -extldflags "-Wl,-z,relro,-z,now"`
	for _, set := range []string{"version=" + o.version.text, "commit=" + o.version.commit, "date=" + o.version.when.Format(time.RFC3339)} {
		flags += " -X accordion/cmd/accordion/command." + set
	}
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildmode=pie", "-buildvcs=false", "-ldflags", flags, "-o", to, "./cmd/accordion")
	c.Dir = o.root
	c.Env = append(os.Environ(), "CGO_ENABLED=1")
	if o.cc != "" {
		c.Env = append(c.Env, "CC="+o.cc)
	}
	return told(c)
}

// told runs a command. The error contains the command's output.
func told(c *exec.Cmd) error {
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, out)
	}
	return nil
}

// libc returns the version of the C library that a program needs. This is the newest version among its symbols,
// such as 2.34.
func libc(program string) (string, error) {
	f, err := elf.Open(program)
	if err != nil {
		return "", fmt.Errorf("%s: which C library does it need? %w", program, err)
	}
	defer f.Close()
	needs, err := f.DynamicVersionNeeds()
	if err != nil {
		return "", fmt.Errorf("%s: which C library does it need? %w", program, err)
	}
	var versions []string
	for _, n := range needs {
		if n.Name != "libc.so.6" && !strings.HasPrefix(n.Name, "ld-linux") && n.Name != "libpthread.so.0" && n.Name != "libdl.so.2" && n.Name != "libm.so.6" && n.Name != "libresolv.so.2" {
			return "", fmt.Errorf("%s needs %s, which no package says: add it to scripts/packages/nfpm/accordion.yaml", program, n.Name)
		}
		for _, d := range n.Needs {
			if v, is := strings.CutPrefix(d.Dep, "GLIBC_"); is {
				versions = append(versions, v)
			}
		}
	}
	if len(versions) == 0 {
		return "", fmt.Errorf("%s needs no version of the C library: it was not linked as packages want it (CGO_ENABLED=1)", program)
	}
	return slices.MaxFunc(versions, byNumber), nil
}

// byNumber compares versions such as 2.4 and 2.34 number by number.
func byNumber(a, b string) int {
	numbers := func(s string) (all []int) {
		for _, part := range strings.Split(s, ".") {
			n, _ := strconv.Atoi(part) // a part that is not a number is private to the library, and is sorted first
			all = append(all, n)
		}
		return all
	}
	return cmp.Or(slices.Compare(numbers(a), numbers(b)), strings.Compare(a, b))
}
