package command

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// columns is the width of help.
const columns = 100

// usage is cobra's template for usage messages. In contrast to cobra's own, it shows only groups of commands, and wraps flags to `columns`.
const usage = `Usage:{{if and .Runnable (not (index .Annotations "group"))}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{$all := .Commands}}{{range $group := .Groups}}

{{.Title}}{{range $all}}{{if (and (eq .GroupID $group.ID) .IsAvailableCommand)}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if not .AllChildCommandsHaveGroup}}

{{if .Groups}}Additional Commands:{{else}}Available Commands:{{end}}{{range $all}}{{if (and (eq .GroupID "") (or .IsAvailableCommand (eq .Name "help")))}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 100 | trimTrailingWhitespaces}}{{end}}{{if .HasHelpSubCommands}}

More help (accordion help TOPIC):{{range .Commands}}{{if .IsAdditionalHelpTopicCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableSubCommands}}

Use "{{.CommandPath}} [command] --help" for more information about a command.{{end}}
`

// Topic returns a help page that is not a command: accordion help NAME.
func Topic(name, short, long string) *cobra.Command {
	return &cobra.Command{Use: name, Short: short, Long: long}
}

// layOut wraps the help of all commands to the width `columns`.
func layOut(root *cobra.Command) {
	root.SetUsageTemplate(usage)
	each(root, func(c *cobra.Command) { c.Long = wrap(c.Long) })
}

// wrap breaks lines that are longer than `columns`. It refills a paragraph if one of its lines is too long. Lines that begin with a blank
// are tables or commands; their continuation is indented to the last column of the table.
func wrap(text string) string {
	var out []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		out = append(out, wrapParagraph(paragraph))
	}
	return strings.Join(out, "\n\n")
}

func wrapParagraph(text string) string {
	var out, plain []string
	long := false
	flush := func() {
		if long {
			plain = fill(strings.Join(plain, " "), 0)
		}
		out, plain, long = append(out, plain...), nil, false
	}
	for line := range strings.SplitSeq(text, "\n") {
		tooLong := utf8.RuneCountInString(line) > columns
		switch {
		case !strings.HasPrefix(line, " "):
			plain, long = append(plain, line), long || tooLong
		case tooLong:
			flush()
			out = append(out, hang(line)...)
		default:
			flush()
			out = append(out, line)
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// fill breaks a text at blanks. All lines but the first are indented.
func fill(text string, indent int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns:
			lines, line = append(lines, line), strings.Repeat(" ", indent)+word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// hang breaks a line that is too long. A line of a table continues below the table's last column. A line of a command
// ends with a backslash and continues in the next line.
func hang(line string) []string {
	body := strings.TrimLeft(line, " ")
	begin := len(line) - len(body)
	if strings.Contains(body, " --") {
		return commandLines(strings.Repeat(" ", begin), body)
	}
	at := begin
	if i := strings.LastIndex(line, "  "); i+2 > begin {
		at = i + 2
	}
	head, marks := line[:at], strings.Repeat("x", at) // a placeholder as wide as head
	lines := fill(marks+" "+line[at:], at)
	if lines[0] == marks { // the next word alone is wider than the space
		lines = lines[1:]
		lines[0] = strings.TrimLeft(lines[0], " ")
	}
	lines[0] = head + strings.TrimPrefix(lines[0], marks+" ")
	return lines
}

// commandLines breaks a command before its options.
func commandLines(indent, body string) (lines []string) {
	line := indent
	for i, piece := range strings.Split(body, " --") {
		if i > 0 {
			piece = " --" + piece
		}
		if i > 0 && len(line)+len(piece)+2 > columns {
			lines, line = append(lines, line+` \`), indent+"   "
		}
		line += piece
	}
	return append(lines, line)
}
