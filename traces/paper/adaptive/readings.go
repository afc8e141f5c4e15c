package adaptive

// move is another interpretation of the paper for one approach.
type move struct {
	words        string
	approach, of approach
}

// moves lists other interpretations: some change the results of the claims, others do not.
var moves = []move{
	{"traditional: aged jobs age again", "traditional:again", traditional},
	{"traditional: aged jobs become short ones", "traditional:top", traditional},
	{"traditional: jobs do not age", "traditional:ageless", traditional},
	{"SCOJO-P: aged jobs age again", "scojo-p:again", scojo},
	{"SCOJO-P: aged jobs become short ones", "scojo-p:top", scojo},
	{"SCOJO-P: jobs do not age", "scojo-p:ageless", scojo},
	{"Cirne-Berman: aged jobs age again", "cirne-berman:again", cirne},
	{"Cirne-Berman: aged jobs become short ones", "cirne-berman:top", cirne},
	{"Cirne-Berman: jobs do not age", "cirne-berman:ageless", cirne},
	{"Cirne-Berman: sizes up to the reference", "cirne-berman:opt", cirne},
	{"Cirne-Berman: both", "cirne-berman:opt:top", cirne},
	{"SCOJO-P: targets rounded down", "rounded down", scojo},
	{"SCOJO-P: targets rounded up", "rounded up", scojo},
	{"SCOJO-P: ideal load .7", "ideal .7", scojo},
	{"SCOJO-P: ideal load .8", "ideal .8", scojo},
	{"SCOJO-P: ideal load 1", "ideal 1", scojo},
	{"SCOJO-P: delta .005", "delta .005", scojo},
	{"SCOJO-P: delta .05", "delta .05", scojo},
	{"SCOJO-P: one bad modifier", "bad 1", scojo},
	{"SCOJO-P: ten bad modifiers", "bad 10", scojo},
	{"SCOJO-P: no size is remembered (Figure 3)", "forgetful", scojo},
	{"SCOJO-P: back-filled jobs have modifiers of their own", "own modifiers", scojo},
	{"SCOJO-P: no bounds in the load", unbounded, scojo},
	{"SCOJO-P: statistics of the workload itself", counted, scojo},
	{"SCOJO-P: statistics learned on the way", learned, scojo},
	{"SCOJO-P: no prediction", blind, scojo},
}

// Readings returns the mean response under each move, relative to the original interpretation. For the move
// without bounds of the sizes it also returns the modifiers and the number of modifiers that were tried, with
// and without bounds.
func (d *Data) Readings() []Row {
	var all []Row
	add := func(words string, r Row) {
		r.rule = words
		all = append(all, r)
	}
	for _, s := range []setting{w1, w2} {
		for _, m := range moves {
			add(m.words, d.ratio("reading."+string(m.approach)+"/"+string(m.of), s, printed, response(0), m.approach, m.of, none))
		}
		for _, of := range []search{modifierAt(0), trials} {
			add("SCOJO-P", d.tried("reading.scojo-p", s, scojo, of, none))
			add("SCOJO-P: no bounds in the load", d.tried("reading.unbounded", s, unbounded, of, none))
		}
	}
	return all
}
