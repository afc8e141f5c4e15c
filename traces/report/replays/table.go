package replays

// group is a part of the table under one heading.
type group struct {
	Name string
	Rows []tableRow
}

type tableRow struct {
	Name, About string
	Cells       []cell
}

// cell is one policy's value and how far it is from the first's.
type cell struct {
	Value, Change string
	Verdict       string // "better", "worse" or "": the page has an arrow for each, for those who do not see colours
}

// table writes the rows' values as they are read. Neighbours of one group share a heading.
func (r *Report) table() []group {
	var groups []group
	for _, row := range r.Table {
		if len(groups) == 0 || groups[len(groups)-1].Name != row.Group {
			groups = append(groups, group{Name: row.Group})
		}
		out := tableRow{Name: row.Name, About: row.About}
		for i, v := range row.Values {
			c := cell{Value: row.Unit.text(v, r.Begin)}
			if i > 0 {
				c.Change = row.Unit.change(v, row.Values[0])
				switch row.Better.judge(v, row.Values[0]) {
				case 1:
					c.Verdict = "better"
				case -1:
					c.Verdict = "worse"
				}
			}
			out.Cells = append(out.Cells, c)
		}
		g := &groups[len(groups)-1]
		g.Rows = append(g.Rows, out)
	}
	return groups
}
