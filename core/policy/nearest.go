package policy

// nearest returns the name with the smallest edit distance to the text, or "" if that is more than half the length of
// the longer one.
func nearest(text string, names []string) string {
	best, least := "", 0
	for _, name := range names {
		if d := distance(text, name); 2*d <= max(len(text), len(name)) && (best == "" || d < least) {
			best, least = name, d
		}
	}
	return best
}

// distance returns how many bytes to change, add or remove between two texts (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1) // distances of the prefixes of b to the current prefix of a
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}
