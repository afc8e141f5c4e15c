package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"accordion/oar/conf"
)

// epilogueSetting names the program that OAR's server runs, with a job's ID, after the job has ended. If this program
// fails, OAR switches all of its queues off. So the program is a script that never fails, even if accordion itself
// fails.
const epilogueSetting = "SERVER_EPILOGUE_EXEC_FILE"

// epilogueFile is the file name of the script, in the folder of oar.conf.
const epilogueFile = "accordion_epilogue"

// wrapper returns the text of the script. `site` is the epilogue that OAR had before. The script runs it at the end and returns its exit
// status.
func (s Setup) wrapper(site string) string {
	last := "exit 0"
	if site != "" {
		last = "exec " + site + ` "$@"`
	}
	return fmt.Sprintf(`#!/bin/sh
# Made by "accordion oar install". OAR's server runs it when a job is over: %s="%s" in oar.conf.
# It ends the companions of an evolving job, should the sidecar not do it. Were it to fail, OAR would switch off all queues.
'%s' oar epilogue "$@" </dev/null || :
%s
`, epilogueSetting, s.wrapperPath(), s.Program, last)
}

func (s Setup) wrapperPath() string { return filepath.Join(filepath.Dir(s.File), epilogueFile) }

// chained matches the site's own epilogue in the text of a wrapper.
var chained = regexp.MustCompile(`(?m)^exec (.+) "\$@"$`)

// makeEpilogue makes the script, and adds it to oar.conf if that file may be edited. Otherwise it returns the line to add.
func (s Setup) makeEpilogue(context.Context, setupStore) (string, error) {
	const doing = "making the server's epilogue"
	text, err := os.ReadFile(s.File)
	if err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	path := s.wrapperPath()
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	site, line := conf.SettingIn(string(text), epilogueSetting)
	named := line > 0 && site == path
	if named {
		site = ""
		if m := chained.FindSubmatch(old); m != nil {
			site = string(m[1])
		}
	}
	word := "there: "
	if fresh := s.wrapper(site); fresh != string(old) {
		word = "mended: "
		if old == nil {
			word = "made: "
		}
		if err := replaceScript(path, fresh); err != nil {
			return "", fmt.Errorf("%s: %w", doing, err)
		}
	}
	what := word + "server epilogue " + path
	if site != "" {
		what += ", which runs the site's own, " + site
	}
	switch {
	case named:
		return what, nil
	case !s.Epilogue:
		return fmt.Sprintf("%s; OAR does not run it yet: give --epilogue, or put this into %s: %s=\"%s\"", what, s.File, epilogueSetting, path), nil
	}
	backup := s.backup()
	if err := conf.Rewrite(s.File, conf.WithSetting(string(text), epilogueSetting, path), backup); err != nil {
		return "", fmt.Errorf("%s: %s stays as it is: %w", doing, s.File, err)
	}
	return fmt.Sprintf("made: %s in %s (as it was: %s)", strings.TrimPrefix(what, word), s.File, backup), nil
}

func (s Setup) backup() string { return fmt.Sprintf("%s.accordion-%d", s.File, time.Now().UnixNano()) }

// replaceScript writes an executable file atomically, because OAR may run the file at any moment.
func replaceScript(path, text string) error {
	fresh := path + ".new"
	if err := os.WriteFile(fresh, []byte(text), 0o600); err != nil {
		return err
	}
	if err := os.Chmod(fresh, 0o755); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	if err := os.Rename(fresh, path); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return nil
}

// ErrNamed means that oar.conf names Accordion's epilogue and may not be edited.
var ErrNamed = errors.New("oar.conf names the server epilogue")

// checkUnnamed returns ErrNamed if the script cannot be removed because oar.conf names it and may not be edited.
func (s Setup) checkUnnamed() error {
	text, err := os.ReadFile(s.File)
	if err != nil {
		return fmt.Errorf("removing the server's epilogue: %w", err)
	}
	if value, line := conf.SettingIn(string(text), epilogueSetting); value == s.wrapperPath() && !s.Epilogue {
		return fmt.Errorf("%w: nothing was removed: %s:%d: %s: give --epilogue, and the line is taken out", ErrNamed, s.File, line, epilogueSetting)
	}
	return nil
}

func (s Setup) removeEpilogue(ctx context.Context, _ setupStore) (string, error) {
	const doing = "removing the server's epilogue"
	path := s.wrapperPath()
	text, err := os.ReadFile(s.File)
	if err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	edited := ""
	if value, _ := conf.SettingIn(string(text), epilogueSetting); value == path {
		backup := s.backup()
		if err := conf.Rewrite(s.File, conf.WithoutSetting(string(text), epilogueSetting, path), backup); err != nil {
			return "", fmt.Errorf("%s: %s stays as it is: %w", doing, s.File, err)
		}
		edited = fmt.Sprintf(", and taken out of %s (as it was: %s)", s.File, backup)
		// Programs of OAR that have read the old oar.conf may still run the script, so the script must exist until they have ended.
		if err := awaitReaders(ctx, s.OARDir); err != nil {
			return "", fmt.Errorf("%s: %s is left: %w", doing, path, err)
		}
	}
	if err := os.Remove(path); errors.Is(err, os.ErrNotExist) {
		return "not there: server epilogue " + path + edited, nil
	} else if err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	return "removed: server epilogue " + path + edited, nil
}

// awaitReaders waits for the end of the programs of OAR that may still call the epilogue. It ignores programs that
// start later.
func awaitReaders(ctx context.Context, oarDir string) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for _, pid := range runners(oarDir) {
		for isRunner(pid, oarDir) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return fmt.Errorf("OAR's process %s, which may run it, has not ended: %w", pid, ctx.Err())
			}
		}
	}
	return nil
}

// runners returns the process IDs of OAR's programs that run an epilogue.
func runners(oarDir string) (pids []string) {
	found, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	for _, dir := range found {
		if pid := filepath.Base(dir); isRunner(pid, oarDir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func isRunner(pid, oarDir string) bool {
	command, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	if err != nil {
		return false // it has ended
	}
	for word := range strings.SplitSeq(string(command), "\x00") {
		if word == filepath.Join(oarDir, "Leon") || word == filepath.Join(oarDir, "bipbip") {
			return true
		}
	}
	return false
}
