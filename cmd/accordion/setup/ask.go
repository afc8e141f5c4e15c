package setup

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// asker asks questions on a terminal. Without a terminal it uses the default answers.
type asker struct {
	in  *bufio.Reader // nil if there is no terminal
	out io.Writer
}

func newAsker(in io.Reader, out io.Writer) asker {
	if f, is := in.(*os.File); is && !term.IsTerminal(int(f.Fd())) {
		return asker{out: out}
	}
	return asker{in: bufio.NewReader(in), out: out}
}

// ask returns the answer, or the default if the answer is empty or there is no terminal.
func (a asker) ask(question, usual string) (string, error) {
	if a.in == nil {
		return usual, nil
	}
	fmt.Fprintf(a.out, "%s [%s] ", question, usual)
	line, err := a.in.ReadString('\n')
	if err != nil && line == "" {
		return "", fmt.Errorf("no answer to the question %q: %w", question, err)
	}
	if answer := strings.TrimSpace(line); answer != "" {
		return answer, nil
	}
	return usual, nil
}
