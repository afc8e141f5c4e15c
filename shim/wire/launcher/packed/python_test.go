package packed

import (
	"bytes"
	"context"
	"encoding/hex"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/internal/testenv"
	"accordion/shim/wire/launcher"
)

// stranger returns the Python code of docs/protocol.md.
func stranger(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(text), "```python\nimport zlib\n")
	code, _, ended := strings.Cut(code, "```")
	if !found || !ended {
		t.Fatal("docs/protocol.md has no Python about packed frames")
	}
	return "import zlib\n" + code
}

func TestTheDocumentHasTheDictionary(t *testing.T) {
	_, literal, _ := strings.Cut(stranger(t), "DICTIONARY = (")
	literal, _, _ = strings.Cut(literal, ")\n")
	said := ""
	for _, line := range regexp.MustCompile(`b(".*")`).FindAllStringSubmatch(literal, -1) {
		part, err := strconv.Unquote(line[1]) // \x has the same meaning in both languages
		if err != nil {
			t.Fatalf("%s: %v", line[1], err)
		}
		said += part
	}
	if said != Dictionary {
		t.Errorf("docs/protocol.md says\n%q\nand it is\n%q", said, Dictionary)
	}
}

// driver calls the document's Python code. It reads a line and writes a line for each call.
const driver = `
import sys
ends = {"pack": Direction(), "unpack": Direction()}
for line in sys.stdin:
    what, message = line.split()
    print(getattr(ends[what], what)(bytes.fromhex(message)).hex())
`

// The Python program in the document, which uses zlib, can unpack the frames that this package packs. This package can
// unpack the frames that the program packs.
func TestAStrangerPacksAndUnpacks(t *testing.T) {
	python := testenv.Program(t, "python3")
	var ours Packer
	var theirs Unpacker
	var questions strings.Builder
	var all [][]byte
	for seq := range int64(40) {
		frame := change(t, seq+1, int(1+seq%8))
		if seq%7 == 3 {
			var err error
			if frame, err = launcher.Append(nil, seq+1, &launcher.Ping{}); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, frame[header:])
		for what, message := range map[string][]byte{"pack": frame[header:], "unpack": ours.Pack(frame)[header:]} {
			questions.WriteString(what + " " + hex.EncodeToString(message) + "\n")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, python, "-c", stranger(t)+driver)
	c.Stdin = strings.NewReader(questions.String())
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	asked, answers := strings.Fields(questions.String()), strings.Fields(string(out))
	if 2*len(answers) != len(asked) {
		t.Fatalf("%d answers to %d questions", len(answers), len(asked)/2)
	}
	small := 0
	for i, answer := range answers {
		got, err := hex.DecodeString(answer)
		if err != nil {
			t.Fatal(err)
		}
		want := all[i/2]
		if asked[2*i] == "pack" {
			small += len(want) - len(got)
			frame, err := theirs.Unpack(framed(got), launcher.MostToServer)
			if err != nil {
				t.Fatalf("message %d as the stranger packs it: %v", i/2+1, err)
			}
			got = frame[header:]
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("message %d, %s: %x, want %x", i/2+1, asked[2*i], got, want)
		}
	}
	if small == 0 {
		t.Error("the stranger packs nothing")
	}
}
