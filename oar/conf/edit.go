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

// setAside begins a line of oar.conf that a line of ours has taken the place of. It makes a comment of it.
const setAside = "#accordion# "

// assignment is a line of oar.conf as OAR reads it: what follows a # is not looked at.
var assignment = regexp.MustCompile(`^\s*([^#=\s]+)\s*=\s*([^#]*)`)

// assigned takes a line of oar.conf apart; name is empty for a line that sets nothing.
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

// SettingIn is the value of a setting in the text of oar.conf, and its line from 1; OAR takes the last. Line 0: there is none.
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

// WithSetting gives a text of oar.conf with a setting of ours in place of those that there are, which become comments.
// withoutSetting is its inverse.
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

// WithoutSetting returns a text of oar.conf without the setting that has this value. It restores the settings that this one had replaced.
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

// Rewrite gives a file another text, all at once, with the same owner and mode, and leaves the old one in backup.
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

// makeLike makes a file with the owner and mode of another; nobody sees it with others, for it may hold passwords.
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
