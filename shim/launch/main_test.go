package launch

import (
	"os"
	"testing"

	"accordion/slurm/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }
