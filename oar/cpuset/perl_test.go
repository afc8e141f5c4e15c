package cpuset

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"accordion/internal/testenv"
)

// Text that users write reaches Perl programs that run as OAR's account. Perl must read back exactly the values, and must not execute any
// of them.
func TestPerlReadsBackWhatIsWrittenForIt(t *testing.T) {
	testenv.Program(t, "perl")
	text := rapid.OneOf(rapid.SampledFrom([]string{"", `'`, `\`, `\'`, `\\`, "a\nb", `'; system "touch /tmp/pwned"; '`, "$HOME @INC %ENV", "__END__", "\n__END__\n", "é", "0", "=>", "}"}),
		rapid.StringMatching(`[\x20-\x7e\n\t\\']{0,30}`))
	var value func(deep int) *rapid.Generator[any]
	value = func(deep int) *rapid.Generator[any] {
		plain := rapid.OneOf(rapid.Map(text, func(s string) any { return s }), rapid.Just[any](nil))
		if deep == 0 {
			return plain
		}
		return rapid.OneOf(plain,
			rapid.Map(rapid.SliceOfN(value(deep-1), 0, 4), func(v []any) any { return append([]any{}, v...) }),
			rapid.Map(rapid.MapOfN(text, value(deep-1), 0, 4), func(v map[string]any) any { return v }))
	}
	// Each case tests many values in one run, because Perl is slow to start.
	rapid.Check(t, func(t *rapid.T) {
		var want any = rapid.SliceOfN(value(3), 1, 60).Draw(t, "values")
		c := exec.Command("perl", "-MJSON::PP", "-e", `undef $/; my $v = eval(<STDIN>); die $@ if $@; binmode STDOUT; print JSON::PP->new->allow_nonref->latin1->encode($v)`)
		c.Stdin = strings.NewReader(perl(want))
		out, err := c.Output()
		if err != nil {
			t.Fatalf("perl: %v, for %s", err, perl(want))
		}
		var got any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
	if got := perl(map[string]any{"b": int64(7), "a": []any{"x", nil}}); got != `{'a' => ['x',undef],'b' => '7'}` {
		t.Errorf("it writes %s", got)
	}
}
