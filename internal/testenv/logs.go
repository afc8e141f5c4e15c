package testenv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Logs returns the folder of the real workload logs, as traces/swf.Folder does. That is $ACCORDION_TRACES, or
// otherwise the folder of scripts/fetch-traces. At both levels it skips the test if one of the files is missing,
// because the archive may be out of reach. With ACCORDION_TEST_LOGS=required it fails the test instead, unless
// scripts/fetch-traces cannot fetch that file. Names are relative to the folder.
func Logs(t testing.TB, files ...string) (folder string) {
	t.Helper()
	folder = os.Getenv("ACCORDION_TRACES")
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			Needs(t, Missing("logs", err.Error()))
		}
		folder = filepath.Join(cache, "accordion", "traces")
	}
	for _, file := range files {
		_, err := os.Stat(filepath.Join(folder, file))
		switch {
		case !public(file) && (err != nil || asked("published") == bare):
			t.Skipf("needs published: %s is not in %s, and scripts/fetch-traces does not fetch it", file, folder)
		case !public(file):
		case err != nil && os.Getenv(level+"_LOGS") != required:
			t.Skipf("needs logs: %s is not in %s; scripts/fetch-traces fetches it, and ACCORDION_TRACES names another folder", file, folder)
		case err != nil:
			t.Fatalf("needs logs: %s is not in %s; scripts/fetch-traces fetches it, and ACCORDION_TRACES names another folder", file, folder)
		default:
			Needs(t, Missing("logs", ""))
		}
	}
	return folder
}

// public reports whether scripts/fetch-traces fetches the file.
func public(file string) bool {
	return !strings.HasPrefix(file, "..") && file != "lublin_256.swf.gz" && file != "KTH-SP2-1996-unfiltered.swf.gz"
}
