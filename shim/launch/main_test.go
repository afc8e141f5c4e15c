package launch

import (
	"os"
	"testing"

	"accordion/scripts/lab"
)

func TestMain(m *testing.M) { os.Exit(lab.Main(m)) }
