package conf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// setAside is the prefix of a line that Accordion has replaced in oar.conf. It turns the old line into a comment.
const setAside = "#accordion# "

// assignment matches a line of oar.conf. Like OAR, it ignores the text after a #.
var assignment = regexp.MustCompile(`^\s*([^#=\s]+)\s*=\s*([^#]*)`)

// assigned splits a line of oar.conf into name and value. The name is "" for a line that sets nothing.
func assigned(line string) (name, value string) {
	m := assignment.FindStringSubmatch(line)
	if m == nil {
		return "", ""
	}
	value = strings.TrimSpace(m[2])
	if n := len(value); n > 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		value = value[1 : n-1]
	}
	return m[1], value
}

// SettingIn returns the value of a setting in the text of oar.conf, and its line number. Lines count from 1; 0 means that no line sets it.
// Like OAR, it uses the last line that sets it.
func SettingIn(text, name string) (value string, line int) {
	n := 0
	for one := range strings.Lines(text) {
		n++
		if found, is := assigned(one); found == name {
			value, line = is, n
		}
	}
	return value, line
}

// WithSetting returns the text of oar.conf with the setting, and turns earlier lines of that setting into comments.
// WithoutSetting undoes this.
func WithSetting(text, name, value string) string {
	var out strings.Builder
	written := false
	ours := fmt.Sprintf("%s=\"%s\"\n", name, value)
	for one := range strings.Lines(text) {
		if found, _ := assigned(one); found != name {
			out.WriteString(one)
			continue
		}
		out.WriteString(setAside + one)
		if !strings.HasSuffix(one, "\n") {
			out.WriteString("\n")
		}
		if !written {
			out.WriteString(ours)
			written = true
		}
	}
	if !written {
		if text != "" && !strings.HasSuffix(text, "\n") {
			out.WriteString("\n")
		}
		out.WriteString(ours)
	}
	return out.String()
}

// WithoutSetting returns the text of oar.conf without the setting that has this value, and restores the lines that
// WithSetting turned into comments.
func WithoutSetting(text, name, value string) string {
	var out strings.Builder
	for one := range strings.Lines(text) {
		if found, is := assigned(one); found == name && is == value {
			continue
		}
		if kept, aside := strings.CutPrefix(one, setAside); aside {
			if found, _ := assigned(kept); found == name {
				one = kept
			}
		}
		out.WriteString(one)
	}
	return out.String()
}

// Rewrite replaces the contents of a file atomically and keeps its owner and mode. It saves the old contents in backup.
func Rewrite(file, text, backup string) error {
	file, err := filepath.EvalSymlinks(file)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if err := makeLike(backup, string(old), info); err != nil {
		return err
	}
	fresh := file + ".accordion-new"
	if err := makeLike(fresh, text, info); err != nil {
		return err
	}
	if err := os.Rename(fresh, file); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return nil
}

// makeLike creates a file with the owner and mode of another file. Until the new file has them, only root can read it, because it may
// contain passwords.
func makeLike(file, text string, like os.FileInfo) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if owner, ok := like.Sys().(*syscall.Stat_t); ok {
		if err := f.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
	}
	if err := f.Chmod(like.Mode().Perm()); err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}
