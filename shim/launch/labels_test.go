package launch

import (
	"io"
	"strings"
	"testing"
)

func TestTaskNumbersAreThoseOfTheWhole(t *testing.T) {
	v := &labels{first: 4, width: 2, label: true}
	for line, want := range map[string]string{
		"0: out\n":                  " 4: out\n",
		" 7: 3: out\n":              "11: 3: out\n",
		"3: ":                       " 7: ",
		"no label\n":                "no label\n",
		"slurmstepd: 3: x\n":        "slurmstepd: 3: x\n",
		"99999999999999999999999: ": "99999999999999999999999: ",
	} {
		if got := string(v.relabel([]byte(line))); want != got {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]string{
		"srun: error: n3: tasks 0-1,3: Exited with exit code 3\n": "srun: error: n3: tasks 4-5,7: Exited with exit code 3\n",
		"srun: error: n5: task 2: Killed\n":                       "srun: error: n5: task 6: Killed\n",
		"srun: Job step aborted: Waiting up to 4 seconds\n":       "srun: Job step aborted: Waiting up to 4 seconds\n",
	} {
		if got, own := v.convert([]byte(line)); string(got) != want || !own {
			t.Errorf("%q: %q, %v; want %q", line, got, own, want)
		}
	}
	if got, own := v.convert([]byte("1: my own\n")); string(got) != " 5: my own\n" || own {
		t.Errorf("a task's line became %q, %v", got, own)
	}
	v.label = false
	if got := string(v.relabel([]byte("0: out\n"))); got != "0: out\n" {
		t.Errorf("a line of a program that looks labelled became %q", got)
	}
}

// pipe keeps what is written, and fails after a number of bytes.
type pipe struct {
	strings.Builder
	breaks int
	closed bool
}

func (p *pipe) Write(b []byte) (int, error) {
	if p.breaks > 0 && p.Len()+len(b) > p.breaks {
		return 0, io.ErrClosedPipe
	}
	return p.Builder.Write(b)
}

func (p *pipe) Close() error { p.closed = true; return nil }

func TestInputGoesToAllPartsThatStillRead(t *testing.T) {
	whole, short := &pipe{}, &pipe{breaks: 4}
	feed(pieceByPiece("abc", "def", "gh"), []io.WriteCloser{short, whole})
	if whole.String() != "abcdefgh" || short.String() != "abc" || !whole.closed || !short.closed {
		t.Errorf("one had %q (closed %v), the other %q (closed %v)", whole, whole.closed, short, short.closed)
	}
	in := pieceByPiece("abc", "def", "gh")
	feed(in, []io.WriteCloser{&pipe{breaks: 4}})
	if rest, _ := io.ReadAll(in); string(rest) != "gh" {
		t.Errorf("without a reader, %q was not read", rest)
	}
}

// pieceByPiece returns a reader that returns one text at a time.
func pieceByPiece(texts ...string) io.Reader {
	var all []io.Reader
	for _, text := range texts {
		all = append(all, strings.NewReader(text))
	}
	return io.MultiReader(all...)
}
