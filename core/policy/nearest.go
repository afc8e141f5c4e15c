package policy

// nearest is the name that takes the fewest letters to change, add or leave out to become it; "" when that is more than half
// of the longer one.
func nearest(text string, names []string) string {
	best, least := "", 0
	for _, name := range names {
		if d := distance(text, name); 2*d <= max(len(text), len(name)) && (best == "" || d < least) {
			best, least = name, d
		}
	}
	return best
}

// distance is the number of bytes to change, add or leave out between two texts (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1) // of the beginnings of b to the beginning of a looked at
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
