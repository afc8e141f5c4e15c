package paper

// printedEvolving are Tables 1 and 2 of C. Klein and C. Pérez, "Towards Scheduling Evolving Applications", CoreGRID/ERCIM Workshop 2011,
// section 5. Report RR-7205 (2010) has the same figures under other names: CBF, nos, mic, mic+c, inf and inf+c for the algorithms,
// "Reservation" for CoreGRID's "Utilisation", and "Utilisation" for its "Eff. Util.".
var printedEvolving = map[string][metrics]Printed{
	"rigid": {
		waste: figure(43, 70, 116), reservation: figure(1, 1, 1), utilisation: figure(30, 40, 51), makespan: figure(1, 1, 1), spent: figure(4.64, 6.2, 9.41),
		act: figure(1, 1, 1), awt: figure(1, 1, 1), expanded: figure(0, 0, 0), expansion: figure(0, 0, 0), appWaste: figure(0, 67, 681),
	},
	"noX": {
		waste: figure(0, 0, 0), reservation: figure(.46, .58, .69), utilisation: figure(49, 61, 73), makespan: figure(.49, .65, .82), spent: figure(11.4, 24.7, 55.8),
		act: figure(.42, .61, .84), awt: figure(.36, .55, .81), expanded: figure(0, 0, 0), expansion: figure(0, 0, 0), appWaste: figure(0, 0, 0),
	},
	"2X": {
		waste: figure(0, 2, 11), reservation: figure(.47, .60, .71), utilisation: figure(50, 63, 75), makespan: figure(.48, .64, .82), spent: figure(11.4, 24.4, 45.4),
		act: figure(.45, .61, .84), awt: figure(.36, .54, .80), expanded: figure(0, 22, 56), expansion: figure(0, 4, 76), appWaste: figure(0, 2, 75),
	},
	"2X+c": {
		waste: nearZero(0, 4), reservation: figure(.46, .59, .70), utilisation: figure(53, 63, 75), makespan: figure(.48, .63, .82), spent: figure(17.1, 36.7, 88.6),
		act: figure(.44, .60, .84), awt: figure(.37, .54, .81), expanded: figure(0, 7, 40), expansion: nearZero(0, 60), appWaste: nearZero(0, 41),
	},
	"infX": {
		waste: figure(0, 7, 22), reservation: figure(.49, .63, .78), utilisation: figure(52, 64, 73), makespan: figure(.49, .63, .78), spent: figure(11.4, 23.4, 49.2),
		act: figure(.43, .62, .81), awt: figure(.27, .53, .76), expanded: figure(0, 26, 62), expansion: figure(0, 19, 884), appWaste: figure(0, 6, 360),
	},
	"infX+c": {
		waste: figure(0, 1, 11), reservation: figure(.46, .59, .71), utilisation: figure(55, 64, 74), makespan: figure(.47, .62, .78), spent: figure(17.6, 36, 124),
		act: figure(.44, .60, .81), awt: figure(.35, .53, .76), expanded: figure(0, 13, 47), expansion: figure(0, 5, 1354), appWaste: figure(0, 1, 119),
	},
}

// Printed is a figure as a paper prints it.
type Printed struct {
	Summary
	Text string `json:"text,omitempty"` // text instead of the mean: "ε" is above 0 and rounds to 0
}

func figure(least, average, most float64) Printed {
	return Printed{Summary: Summary{least, average, most}}
}

func nearZero(least, most float64) Printed {
	return Printed{Summary: Summary{least, 0, most}, Text: "ε"}
}
