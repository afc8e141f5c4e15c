package launch

import (
	"fmt"
	"strconv"
	"strings"
)

// piece is a part of a file name. It is text, or a symbol of srun: %, optional digits, and a letter. As in srun, a name with a backslash
// has no symbols, and its backslashes are removed.
type piece struct {
	text   string // set if the piece is not a symbol
	symbol byte
	width  int // minimum width of a number, filled with zeros
}

func pieces(name string) []piece {
	if strings.Contains(name, `\`) {
		return []piece{{text: strings.ReplaceAll(name, `\`, "")}}
	}
	var all []piece
	for {
		before, after, found := strings.Cut(name, "%")
		if before != "" {
			all = append(all, piece{text: before})
		}
		if !found {
			return all
		}
		letter := strings.TrimLeft(after, "0123456789")
		switch {
		case letter == "":
			return append(all, piece{text: "%" + after})
		case letter[0] == '%':
			all = append(all, piece{text: "%"})
		default:
			width, _ := strconv.Atoi(after[:len(after)-len(letter)])
			all = append(all, piece{symbol: letter[0], width: min(width, 10)})
		}
		name = letter[1:]
	}
}

func hasSymbol(name, any string) bool {
	for _, p := range pieces(name) {
		if p.symbol != 0 && strings.IndexByte(any, p.symbol) >= 0 {
			return true
		}
	}
	return false
}

// expanded returns the name of a file that all tasks share.
func (w World) expanded(name string) string {
	var b strings.Builder
	for _, p := range pieces(name) {
		b.WriteString(p.text)
		b.WriteString(w.job(p))
	}
	return b.String()
}

// job returns the value of a symbol that is the same for all tasks. %j is the number of the job itself, even for tasks in companions.
func (w World) job(p piece) string {
	base := fmt.Sprintf("%0*d", p.width, w.Allocations[0].Job)
	switch p.symbol {
	case 0:
		return ""
	case 'j':
		return base
	case 'A':
		if array := w.get("SLURM_ARRAY_JOB_ID"); array != "" {
			return array
		}
		return base
	case 'a':
		return w.get("SLURM_ARRAY_TASK_ID")
	case 'u':
		return w.User
	case 'x':
		return w.get("SLURM_JOB_NAME")
	}
	return "%" + string(rune(p.symbol))
}

// shell returns the name of a task's own file, as a word for the shell. Task and node numbers in the name count over all parts.
func (w World) shell(name string) string {
	var b strings.Builder
	for _, p := range pieces(name) {
		switch p.symbol {
		case 't':
			b.WriteString(padded("ACCORDION_PROCID", p.width))
		case 'n':
			b.WriteString(padded("ACCORDION_NODEID", p.width))
		case 'N':
			b.WriteString(`"$SLURMD_NODENAME"`)
		case 's':
			b.WriteString(`"$SLURM_STEP_ID"`)
		case 'J':
			b.WriteString(`"$SLURM_JOB_ID.$SLURM_STEP_ID"`)
		default:
			b.WriteString("'" + strings.ReplaceAll(p.text+w.job(p), "'", `'\''`) + "'")
		}
	}
	return b.String()
}

func padded(variable string, width int) string {
	if width == 0 {
		return `"$` + variable + `"`
	}
	return fmt.Sprintf(`"$(printf %%0%dd "$%s")"`, width, variable)
}
