package shell

import (
	"errors"
	"strings"
)

// Split cuts a command into words as a POSIX shell does, by blanks, quotes and backslashes, and expands nothing: variables,
// patterns, operators and comments are words like others. An error says which quote is not closed.
func Split(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	inside := false // a word has begun: an empty pair of quotes is one, too
	end := func() {
		if inside {
			words = append(words, word.String())
		}
		word.Reset()
		inside = false
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\n', '\r':
			end()
		case '\'':
			length := strings.IndexByte(text[i+1:], '\'')
			if length < 0 {
				return nil, errors.New("a single quote (') is not closed")
			}
			word.WriteString(text[i+1 : i+1+length])
			inside = true
			i += length + 1
		case '"':
			length, err := doubleQuoted(&word, text[i+1:])
			if err != nil {
				return nil, err
			}
			inside = true
			i += length
		case '\\':
			if i++; i == len(text) {
				return nil, errors.New("there is nothing behind the backslash at the end")
			}
			if text[i] != '\n' { // a line that goes on in the next
				word.WriteByte(text[i])
				inside = true
			}
		default:
			word.WriteByte(c)
			inside = true
		}
	}
	end()
	return words, nil
}

// doubleQuoted writes what stands before a closing double quote, and says how long that is with the quote.
func doubleQuoted(word *strings.Builder, text string) (int, error) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\\n", text[i+1]) >= 0:
			if i++; text[i] != '\n' {
				word.WriteByte(text[i])
			}
		default:
			word.WriteByte(c)
		}
	}
	return 0, errors.New(`a double quote (") is not closed`)
}
