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

// version is which source a tree is.
type version struct {
	text string    // as Go modules have it: v1.2.3, or v1.2.4-0.20261126174523-632ee3bd1d2a of a commit after it
	when time.Time // of the commit: the time of all that is built

	commit string // its whole hash
}

// tagged is a tag that is a version: others are not looked at.
var tagged = regexp.MustCompile(`^v(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.]+)?$`)

// versionOf asks git. The version of a tree that is not as its commit says ends in "+dirty".
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
	// Without any tag it fails, and says so: then there is none.
	described, _ := git("describe", "--tags", "--long", "--match", "v[0-9]*", "HEAD")
	v := named(described, hash, time.Unix(at, 0).UTC(), changed != "")
	v.commit = hash
	return v, nil
}

// named is the version of a commit, by what git describe says of it: TAG-COMMITS-gHASH, "" without a tag.
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
	case m[4] != "": // a commit after a release candidate is before the release
		v.text = tag + ".0." + stamp
	default:
		patch, _ := strconv.Atoi(m[3]) // digits
		v.text = fmt.Sprintf("v%s.%s.%d-0.%s", m[1], m[2], patch+1, stamp)
	}
	if changed {
		v.text += "+dirty"
	}
	return v
}

// packaged is the version as dpkg and rpm order it: what is before a release by Go's rules is so by theirs.
func (v version) packaged() string {
	release, before, is := strings.Cut(strings.TrimPrefix(v.text, "v"), "-")
	if !is {
		return release
	}
	return release + "~" + strings.ReplaceAll(before, "-", ".")
}
