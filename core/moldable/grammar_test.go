package moldable_test

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/core/ep/eptest"
	"accordion/core/moldable"
)

var write = flag.Bool("accordion.write", false, "write what the grammar says of each case into the table; read it before you commit it")

// judge returns the grammar's verdict on a text: the request as plug-ins write it, or why it is refused.
func judge(c eptest.Case) string {
	parse := moldable.ParseProfiles
	if c.Word == "mold" {
		parse = moldable.Parse
	}
	choices, err := parse(c.Text)
	if err != nil {
		return "refused: " + err.Error()
	}
	return "taken: " + moldable.Format(choices)
}

// The same table is used to test the Lua plug-in and the Perl rules.
func TestTheGrammarSaysOfEachCaseWhatTheTableSays(t *testing.T) {
	const file = "../ep/eptest/cases.txt"
	got := eptest.Table(judge)
	if *write {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
		t.Errorf("%v; -accordion.write writes it again (-table +grammar):\n%s", err, diff)
	}
}
