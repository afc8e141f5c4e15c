package scheduler

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A condition is SQL that compares columns of resources with words and numbers. Comparisons are joined by AND and OR.
// Admission rules add such conditions to each job, and most SQL of users has this form. A pass evaluates a condition
// itself, on the resources that it has read, without a query of the database.
type condition struct {
	parts []condition // operands of an AND or an OR
	any   bool        // OR

	column, operator string // a comparison; if column is "", the field `always` is the result of the condition
	words            []string
	numbers          bool // the values are numbers
	always           bool
}

// Limits of a condition. The database evaluates SQL that exceeds them.
const (
	mostConditionText = 4096
	mostConditionDeep = 20
)

// parseCondition parses a text as a condition, and reports whether it is one.
func parseCondition(text string) (condition, bool) {
	if len(text) > mostConditionText {
		return condition{}, false
	}
	tokens, ok := conditionTokens(text)
	if !ok {
		return condition{}, false
	}
	p := conditionParser{tokens: tokens}
	c, ok := p.or(0)
	return c, ok && len(p.tokens) == 0
}

var conditionToken = regexp.MustCompile(`^\s*('[^'\\]*'|[A-Za-z_][A-Za-z0-9_]*|(?:0|[1-9][0-9]{0,8})\b|<>|!=|<=|>=|[=<>(),])`)

func conditionTokens(text string) (tokens []string, ok bool) {
	for text = strings.TrimSpace(text); text != ""; {
		m := conditionToken.FindStringSubmatch(text)
		if m == nil {
			return nil, false
		}
		tokens, text = append(tokens, m[1]), strings.TrimSpace(text[len(m[0]):])
	}
	return tokens, true
}

type conditionParser struct{ tokens []string }

// take removes and returns the next token if it is one of the words.
func (p *conditionParser) take(words ...string) (string, bool) {
	if len(p.tokens) == 0 {
		return "", false
	}
	word := strings.ToUpper(p.tokens[0])
	if !slices.Contains(words, word) {
		return "", false
	}
	p.tokens = p.tokens[1:]
	return word, true
}

func (p *conditionParser) or(deep int) (condition, bool) {
	return p.joined("OR", func() (condition, bool) {
		return p.joined("AND", func() (condition, bool) { return p.term(deep) })
	})
}

func (p *conditionParser) joined(word string, part func() (condition, bool)) (condition, bool) {
	all := condition{any: word == "OR"}
	for {
		one, ok := part()
		if !ok {
			return all, false
		}
		all.parts = append(all.parts, one)
		if _, more := p.take(word); !more {
			break
		}
	}
	if len(all.parts) == 1 {
		return all.parts[0], true
	}
	return all, true
}

func (p *conditionParser) term(deep int) (c condition, ok bool) {
	if _, open := p.take("("); open {
		if deep == mostConditionDeep {
			return c, false
		}
		if c, ok = p.or(deep + 1); ok {
			_, ok = p.take(")")
		}
		return c, ok
	}
	if len(p.tokens) < 3 {
		return c, false
	}
	left := p.tokens[0]
	p.tokens = p.tokens[1:]
	if isNumber(left) { // 1 = 1
		right := ""
		if _, ok = p.take("="); ok && len(p.tokens) > 0 {
			right, p.tokens = p.tokens[0], p.tokens[1:]
		}
		return condition{always: left == right}, ok && isNumber(right)
	}
	if !isName(left) {
		return c, false
	}
	c.column = strings.ToLower(left)
	if c.operator, ok = p.take("IN"); ok {
		return p.list(c)
	}
	if c.operator, ok = p.take("=", "<>", "!=", "<", ">", "<=", ">="); !ok {
		return c, false
	}
	return p.value(c)
}

// list parses the values of an IN.
func (p *conditionParser) list(c condition) (condition, bool) {
	if _, ok := p.take("("); !ok {
		return c, false
	}
	c.operator, c.numbers = "=", true
	for {
		one, ok := p.value(condition{})
		if !ok {
			return c, false
		}
		c.words, c.numbers = append(c.words, one.words...), c.numbers && one.numbers
		if _, more := p.take(","); !more {
			_, ok = p.take(")")
			return c, ok
		}
	}
}

func (p *conditionParser) value(c condition) (condition, bool) {
	if len(p.tokens) == 0 {
		return c, false
	}
	word := p.tokens[0]
	p.tokens = p.tokens[1:]
	c.numbers = isNumber(word)
	if !c.numbers && word[0] != '\'' {
		return c, false
	}
	c.words = []string{strings.Trim(word, "'")}
	return c, true
}

func isNumber(token string) bool { return token != "" && token[0] >= '0' && token[0] <= '9' }

func isName(token string) bool {
	return token[0] == '_' || token[0] >= 'A' && token[0] <= 'Z' || token[0] >= 'a' && token[0] <= 'z'
}

// columns returns the columns that the condition names.
func (c condition) columns() (all []string) {
	if c.column != "" {
		all = append(all, c.column)
	}
	for _, part := range c.parts {
		all = append(all, part.columns()...)
	}
	return all
}

// columnKind is how values of a column of resources are compared.
type columnKind int

const (
	otherColumn columnKind = iota
	textColumn
	numberColumn
)

// columnKindOf returns the kind of a column, given the database's name of the column's type.
func columnKindOf(databaseType string) columnKind {
	switch t := strings.ToUpper(databaseType); {
	case slices.Contains([]string{"VARCHAR", "TEXT", "ENUM", "CHAR"}, t):
		return textColumn
	case strings.Contains(t, "INT") && t != "INTERVAL" && t != "POINT":
		return numberColumn
	}
	return otherColumn
}

// columnValues holds the values of a column, in the order of the resources. "" stands for NULL.
type columnValues struct {
	kind   columnKind
	values []string
}

// meets reports for each resource, in order, whether it meets the condition. `exact` is false if the database might find other resources,
// because only the database knows how it compares these values.
func (c condition) meets(n int, columns map[string]columnValues) (met []bool, exact bool) {
	met = make([]bool, n)
	switch {
	case len(c.parts) > 0:
		for k, part := range c.parts {
			its, exact := part.meets(n, columns)
			if !exact {
				return nil, false
			}
			for i := range met {
				switch {
				case k == 0:
					met[i] = its[i]
				case c.any:
					met[i] = met[i] || its[i]
				default:
					met[i] = met[i] && its[i]
				}
			}
		}
		return met, true
	case c.column == "":
		for i := range met {
			met[i] = c.always
		}
		return met, true
	}
	of, known := columns[c.column]
	if !known || len(of.values) != n {
		return nil, false
	}
	for _, word := range c.words {
		compare := comparison(of, c.operator, word, c.numbers)
		if compare == nil {
			return nil, false
		}
		for i, v := range of.values {
			met[i] = met[i] || compare(v)
		}
	}
	return met, true
}

// comparison returns a function that compares a column's value with a word. It returns nil if only the database can compare them correctly.
func comparison(of columnValues, operator, word string, number bool) func(string) bool {
	switch of.kind {
	case numberColumn:
		want, err := strconv.Atoi(word)
		if err != nil || strconv.Itoa(want) != word {
			return nil
		}
		return func(v string) bool {
			has, err := strconv.Atoi(v)
			return err == nil && compares(operator, has-want)
		}
	case textColumn:
		if number || word == "" || operator != "=" && operator != "<>" && operator != "!=" {
			return nil
		}
		for _, v := range of.values { // some databases ignore case, and NULL is not unequal to any value
			if v != word && (strings.EqualFold(strings.TrimSpace(v), strings.TrimSpace(word)) || !ascii(v)) || v == "" && operator != "=" {
				return nil
			}
		}
		if !ascii(word) {
			return nil
		}
		return func(v string) bool { return (v == word) == (operator == "=") }
	}
	return nil
}

func compares(operator string, difference int) bool {
	switch operator {
	case "=":
		return difference == 0
	case "<":
		return difference < 0
	case ">":
		return difference > 0
	case "<=":
		return difference <= 0
	case ">=":
		return difference >= 0
	}
	return difference != 0
}

func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > 126 })
}
