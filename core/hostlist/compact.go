package hostlist

import (
	"cmp"
	"slices"
	"strings"
)

// Compact returns the names in the short form, sorted and without duplicates. Only the number at the end of a name goes into
// a bracket, because Slurm does not read text behind the last bracket: n1-ib0, n1-ib1 and n2-ib0 become n1-ib[0-1],n2-ib0.
// Expand reads the result.
func Compact(names []string) string {
	sorted := slices.Clone(names)
	Sort(sorted)
	sorted = slices.Compact(sorted)
	var b strings.Builder
	for len(sorted) > 0 {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		sorted = sorted[writeFamily(&b, sorted):]
	}
	return b.String()
}

// writeFamily writes the names at the beginning of the list that differ only in the number at their end. It returns how many
// names it wrote.
func writeFamily(b *strings.Builder, names []string) int {
	first, ok := cut(names[0])
	same := 1
	for ok && same < len(names) {
		next, ok := cut(names[same])
		if !ok || next.prefix != first.prefix {
			break
		}
		same++
	}
	if same == 1 {
		b.WriteString(names[0])
		return 1
	}
	b.WriteString(first.prefix)
	separator := byte('[')
	for i := 0; i < same; {
		b.WriteByte(separator)
		i += writeRange(b, names[i:same])
		separator = ','
	}
	b.WriteByte(']')
	return same
}

// writeRange writes the consecutive numbers at the beginning of the list, as 7 or 1-3. It returns how many numbers it wrote.
func writeRange(b *strings.Builder, family []string) int {
	first, _ := cut(family[0])
	from, _ := number(first.digits)
	run := 1
	last := first.digits
	var expected [20]byte
	for run < len(family) {
		next, _ := cut(family[run])
		if next.digits != string(appendNumber(expected[:0], from+uint64(run), len(first.digits))) {
			break
		}
		last = next.digits
		run++
	}
	b.WriteString(first.digits)
	if run > 1 {
		b.WriteByte('-')
		b.WriteString(last)
	}
	return run
}

// name is a node name, split before the number at its end.
type name struct{ prefix, digits string }

// cut splits off the number at the end of a name. ok is false if the name does not end with a number that Slurm can use in a
// range.
func cut(text string) (n name, ok bool) {
	begin := len(text)
	for begin > 0 && isDigit(text[begin-1]) {
		begin--
	}
	return name{text[:begin], text[begin:]}, 0 < begin && begin < len(text) && len(text)-begin <= 18
}

// Sort sorts names in natural order: digits compare as numbers, so n2 comes before n10. If numbers are equal,
// the one with fewer digits comes first.
func Sort(names []string) {
	// Most names of a cluster differ only in the number at their end. The number is parsed once for each name, not in each
	// comparison.
	keys := make([]key, len(names))
	for i, text := range names {
		keys[i].text = text
		if n, ok := cut(text); ok {
			keys[i].prefix = n.prefix
			keys[i].number, _ = number(n.digits)
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.prefix == "" || a.prefix != b.prefix {
			return Compare(a.text, b.text)
		}
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(len(a.text), len(b.text)))
	})
	for i := range keys {
		names[i] = keys[i].text
	}
}

// key is a name with the number at its end, if the name consists of a prefix and a number.
type key struct {
	text, prefix string
	number       uint64
}

// Compare compares two names in natural order, to sort values that have node names.
func Compare(a, b string) int {
	same := 0 // length of the common beginning; a number in which the names differ does not belong to it
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	for same > 0 && isDigit(a[same-1]) {
		same--
	}
	return compareRest(a[same:], b[same:])
}

func compareRest(a, b string) int {
	widths := 0 // compares the widths of the numbers; decides if everything else is equal
	for a != "" && b != "" {
		if !isDigit(a[0]) || !isDigit(b[0]) {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y := digits(a), digits(b)
		p, q := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
		if c := cmp.Or(cmp.Compare(len(p), len(q)), strings.Compare(p, q)); c != 0 {
			return c
		}
		widths = cmp.Or(widths, cmp.Compare(x, y))
		a, b = a[x:], b[y:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), widths)
}

// digits returns the number of digits at the front.
func digits(text string) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}
