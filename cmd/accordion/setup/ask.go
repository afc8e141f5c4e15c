package setup

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// asker asks whoever sits at the terminal; where nobody does, the flags have to say it all.
type asker struct {
	in  *bufio.Reader // nil: nobody
	out io.Writer
}

func newAsker(in io.Reader, out io.Writer) asker {
	if f, is := in.(*os.File); is && !term.IsTerminal(int(f.Fd())) {
		return asker{out: out}
	}
	return asker{in: bufio.NewReader(in), out: out}
}

// ask gives the answer, or what is usual where the answer is empty or nobody is there.
func (a asker) ask(question, usual string) (string, error) {
	if a.in == nil {
		return usual, nil
	}
	fmt.Fprintf(a.out, "%s [%s] ", question, usual)
	line, err := a.in.ReadString('\n')
	if err != nil && line == "" {
		return "", fmt.Errorf("there is no answer to: %s: %w", question, err)
	}
	if answer := strings.TrimSpace(line); answer != "" {
		return answer, nil
	}
	return usual, nil
}
