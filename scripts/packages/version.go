package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// version identifies a source tree.
type version struct {
	text string    // as in Go modules: v1.2.3, or v1.2.4-0.20261126174523-632ee3bd1d2a for a later commit
	when time.Time // time of the commit, which is the time of everything that is built

	commit string // full hash
}

// tagged matches tags that are versions. Other tags are ignored.
var tagged = regexp.MustCompile(`^v(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.]+)?$`)

// versionOf returns the version according to git. If the tree differs from its commit, the version ends in
// "+dirty".
func versionOf(ctx context.Context, root string) (version, error) {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output()
		if err != nil {
			return "", fmt.Errorf("the version of the source: git %s: %w; packages are built from a clone of the repository", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	commit, err := git("show", "-s", "--format=%H %ct", "HEAD")
	if err != nil {
		return version{}, err
	}
	hash, second, _ := strings.Cut(commit, " ")
	at, err := strconv.ParseInt(second, 10, 64)
	if err != nil {
		return version{}, fmt.Errorf("the time of commit %s: %w", hash, err)
	}
	changed, err := git("status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return version{}, err
	}
	// git describe fails if there are no tags, and then its output is "".
	described, _ := git("describe", "--tags", "--long", "--match", "v[0-9]*", "HEAD")
	v := named(described, hash, time.Unix(at, 0).UTC(), changed != "")
	v.commit = hash
	return v, nil
}

// named returns the version of a commit. `described` is the output of git describe: TAG-COMMITS-gHASH, or "" if
// there are no tags.
func named(described, hash string, when time.Time, changed bool) version {
	v := version{when: when}
	tag, behind := "", ""
	if parts := strings.Split(described, "-"); len(parts) >= 3 {
		tag, behind = strings.Join(parts[:len(parts)-2], "-"), parts[len(parts)-2]
	}
	stamp := when.Format("20060102150405") + "-" + hash[:12]
	switch m := tagged.FindStringSubmatch(tag); {
	case m == nil:
		v.text = "v0.0.0-" + stamp
	case behind == "0":
		v.text = tag
	case m[4] != "": // a later commit than a release candidate is before the release
		v.text = tag + ".0." + stamp
	default:
		patch, _ := strconv.Atoi(m[3]) // digits only
		v.text = fmt.Sprintf("v%s.%s.%d-0.%s", m[1], m[2], patch+1, stamp)
	}
	if changed {
		v.text += "+dirty"
	}
	return v
}

// packaged returns the version in a form that dpkg and rpm order as Go does.
func (v version) packaged() string {
	release, before, is := strings.Cut(strings.TrimPrefix(v.text, "v"), "-")
	if !is {
		return release
	}
	return release + "~" + strings.ReplaceAll(before, "-", ".")
}
