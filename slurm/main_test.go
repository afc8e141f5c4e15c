package slurm_test

import (
	"os"
	"testing"

	"accordion/internal/lab"
)

func TestMain(m *testing.M) { os.Exit(lab.Main(m)) }
