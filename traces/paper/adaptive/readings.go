package adaptive

// move is another reading of an approach.
type move struct {
	words        string
	approach, of approach
}

// moves are what moves the claims, and what does not.
var moves = []move{
	{"traditional: aged jobs become short ones", "traditional:top", traditional},
	{"traditional: jobs do not age", "traditional ageless", traditional},
	{"SCOJO-P: aged jobs become short ones", "scojo-p:top", scojo},
	{"SCOJO-P: jobs do not age", "ageless", scojo},
	{"Cirne-Berman: aged jobs become short ones", "cirne-berman:top", cirne},
	{"Cirne-Berman: sizes up to the reference", "cirne-berman:opt", cirne},
	{"Cirne-Berman: both", "cirne-berman:opt:top", cirne},
	{"SCOJO-P: ideal load .7", "ideal .7", scojo},
	{"SCOJO-P: ideal load .8", "ideal .8", scojo},
	{"SCOJO-P: ideal load 1", "ideal 1", scojo},
	{"SCOJO-P: delta .005", "delta .005", scojo},
	{"SCOJO-P: delta .05", "delta .05", scojo},
	{"SCOJO-P: one bad modifier", "bad 1", scojo},
	{"SCOJO-P: ten bad modifiers", "bad 10", scojo},
	{"SCOJO-P: no size is remembered (Figure 3)", "forgetful", scojo},
	{"SCOJO-P: statistics learned on the way", learned, scojo},
	{"SCOJO-P: no prediction", blind, scojo},
}

// Readings are the rows of what moves the claims: mean response to that of the approach as it was read.
func (d *Data) Readings() []Row {
	var all []Row
	for _, s := range []setting{w1, w2} {
		for _, m := range moves {
			row := d.ratio("reading."+string(m.approach)+"/"+string(m.of), s, printed, response(0), m.approach, m.of, none)
			row.rule = m.words
			all = append(all, row)
		}
	}
	return all
}
