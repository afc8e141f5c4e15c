package application

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommandLinesAreArranged(t *testing.T) {
	for _, c := range []struct{ on, words, want string }{
		{"", "sbatch -N1 x.sh", "{ true}: sbatch -N1 x.sh"},
		{"", "./solve 7", "work ./solve 7"},
		{"a", "./solve", "{a false}; work ./solve"},
		{"a", "oarsub x.sh", "{a true}: oarsub x.sh"},
		{"a|b", "./solve", "{a false}; {b false}; work ./solve"},
		{"a=sbatch x.sh|b=oarsub -q evolve './y z'", "", "{a true}: sbatch x.sh; {b true}: oarsub -q evolve ./y z"},
	} {
		var o Options
		if err := o.Arrange(split(c.on), strings.Fields(c.words), true); err != nil {
			t.Errorf("%q, %q: %v", c.on, c.words, err)
			continue
		}
		var got []string
		for _, p := range o.Places {
			text := fmt.Sprint(p)
			if p.Batch {
				text += ": " + strings.Join(o.command(p.Cluster).words, " ")
			}
			got = append(got, text)
		}
		if o.Work != nil {
			got = append(got, "work "+strings.Join(o.Work, " "))
		}
		if d := cmp.Diff(c.want, strings.Join(got, "; ")); d != "" {
			t.Errorf("%q, %q (-want +got):\n%s", c.on, c.words, d)
		}
	}
}

func split(on string) []string {
	if on == "" {
		return nil
	}
	return strings.Split(on, "|")
}

func TestImpossibleCommandLines(t *testing.T) {
	for _, c := range []struct{ on, words, want string }{
		{"", "", "there is nothing to run"},
		{"a|b", "", "there is nothing to run"},
		{"=x", "y", `--on "=x" names no cluster`},
		{"a|a", "y", "--on a is there twice"},
		{"a='x", "", "--on a: Unterminated single-quoted string"},
		{"a=./solve", "", `--on a: neither sbatch nor oarsub is in "./solve"`},
		{"a=sbatch x|b", "", "--on with a command and --on without"},
		{"a=sbatch x", "./solve", `there are commands in --on, and "./solve" behind --`},
		{"a|b", "sbatch x", "several clusters and one command: say for each --on a='…'"},
		{"a=sbatch --comment=x y", "", "--on a: sbatch --comment: "},
		{"a=sbatch --wrap=x|b=oarsub y", "", `--on a: --wrap=x has no "accordion part" in it`},
	} {
		var o Options
		if err := o.Arrange(split(c.on), strings.Fields(c.words), true); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q, %q: %v, want %s", c.on, c.words, err, c.want)
		}
	}
}
