package conf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const epilogue = "SERVER_EPILOGUE_EXEC_FILE"

func TestSettingReplacesAnotherAndRestoresIt(t *testing.T) {
	const before = "A=1\n#SERVER_EPILOGUE_EXEC_FILE=\"/path/to/prog\"\n  SERVER_EPILOGUE_EXEC_FILE = '/site/end' # ours\nB=2\n"
	const with = "A=1\n#SERVER_EPILOGUE_EXEC_FILE=\"/path/to/prog\"\n#accordion#   SERVER_EPILOGUE_EXEC_FILE = '/site/end' # ours\n" +
		"SERVER_EPILOGUE_EXEC_FILE=\"/a\"\nB=2\n"
	if value, line := SettingIn(before, epilogue); value != "/site/end" || line != 3 {
		t.Errorf("it is %q in line %d, want /site/end in line 3", value, line)
	}
	if got := WithSetting(before, epilogue, "/a"); got != with {
		t.Errorf("with the setting:\n%s\nwant\n%s", got, with)
	}
	if got := WithoutSetting(with, epilogue, "/a"); got != before {
		t.Errorf("without it:\n%s\nwant\n%s", got, before)
	}
	if got, line := SettingIn("B=2", epilogue); got != "" || line != 0 {
		t.Errorf("where there is none it is %q in line %d", got, line)
	}
}

func TestRemovedSettingsLeaveTheFileUnchanged(t *testing.T) {
	lines := rapid.SampledFrom([]string{"", "A=1", "# SERVER_EPILOGUE_EXEC_FILE=/x", "SERVER_EPILOGUE_EXEC_FILE=/x y z", "\tSERVER_EPILOGUE_EXEC_FILE=\"/x\" # y",
		"SERVER_EPILOGUE_EXEC_FILE=''", "SERVER_EPILOGUE_EXEC_FILE_2=/x", "X_SERVER_EPILOGUE_EXEC_FILE=/x", "#accordion# A=1", "= 3", "A", "\r", "B='SERVER_EPILOGUE_EXEC_FILE=3'"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(lines, 0, 8).Draw(t, "lines"), "\n")
		with := WithSetting(text, epilogue, "/ours")
		if value, _ := SettingIn(with, epilogue); value != "/ours" {
			t.Fatalf("with the setting it is %q:\n%s", value, with)
		}
		// WithSetting may have added a line end to the last line.
		if got := WithoutSetting(with, epilogue, "/ours"); got != text && got != text+"\n" {
			t.Fatalf("%q becomes %q and then %q", text, with, got)
		}
	})
}

func TestAConfigurationIsRewrittenWithItsModeAndACopy(t *testing.T) {
	dir := t.TempDir()
	file, backup, link := filepath.Join(dir, "oar.conf"), filepath.Join(dir, "backup"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := Rewrite(link, "new", backup); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{file: "new", link: "new", backup: "old"} {
		text, err := os.ReadFile(name)
		info, statErr := os.Lstat(name)
		if err != nil || statErr != nil || string(text) != want || name != link && info.Mode() != 0o640 || name == link && info.Mode().IsRegular() {
			t.Errorf("%s has %q, mode %v (%v, %v); want %q and the mode it had", name, text, info.Mode(), err, statErr, want)
		}
	}
	if err := Rewrite(filepath.Join(dir, "absent"), "new", backup); err == nil {
		t.Error("a file that is not there was written")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 3 {
		t.Errorf("there are %v, want the file, its link and its copy", left)
	}
}
