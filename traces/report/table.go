package report

// group is a part of the table with a heading.
type group struct {
	Name string
	Rows []tableRow
}

type tableRow struct {
	Name, About string
	Cells       []cell
}

// cell is the value of one policy, and its difference to the first policy's.
type cell struct {
	Value, Change string
	Verdict       string // "better", "worse" or "": the page shows an arrow for each, because some readers cannot distinguish the colors
}

// table returns the formatted rows. Neighbors of one group share a heading.
func (r *Report) table() []group {
	var groups []group
	for _, row := range r.Table {
		if len(groups) == 0 || groups[len(groups)-1].Name != row.Group {
			groups = append(groups, group{Name: row.Group})
		}
		g := &groups[len(groups)-1]
		g.Rows = append(g.Rows, r.row(row))
	}
	return groups
}

// row returns a formatted row.
func (r *Report) row(row Row) tableRow {
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
	return out
}

// lead is the first sentence of the page: the difference between the first policy and the best one in the first row.
type lead struct {
	Name        string // name of the metric
	First, Best cell   // Best is empty if no policy is better
	FirstPolicy string
	BestPolicy  string
}

// lead returns nil if there is nothing to compare.
func (r *Report) lead() *lead {
	if len(r.Table) == 0 || len(r.Replays) < 2 || r.Table[0].Better == Neither {
		return nil
	}
	row := r.Table[0]
	shown := r.row(row)
	l := &lead{Name: row.Name, First: shown.Cells[0], FirstPolicy: r.Replays[0].Result.Policy}
	best := 0
	for i, v := range row.Values {
		if row.Better.judge(v, row.Values[best]) == 1 {
			best = i
		}
	}
	if best > 0 {
		l.Best, l.BestPolicy = shown.Cells[best], r.Replays[best].Result.Policy
	}
	return l
}
