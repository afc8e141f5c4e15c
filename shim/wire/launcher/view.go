package launcher

import "fmt"

// View is what a launcher knows of the clusters that it subscribed to. The zero value knows nothing. One goroutine owns it.
type View struct {
	Number   int64 // number of the last change; 0 if no change has come
	Now      int64 // Unix seconds of the sidecar's clock at the last change
	Est      int64 // when the request in force would start; 0 if it cannot start, or there is none
	Clusters map[int]Picture
}

// Picture is one cluster in a View. Its content is replaced, and never changed in place.
type Picture struct {
	Info  Cluster
	Links []Link
	Steps []int64 // as in ClusterChange, from the view's Now on, with equal neighbors merged; nil if no change has come
}

// BaseError means that the launcher does not have the view on which a change is based. The launcher should reconnect without naming a view.
type BaseError struct{ View, Base, Have int64 }

func (e *BaseError) Error() string {
	return fmt.Sprintf("view %d differs from view %d, and view %d is what is here: connect anew and ask for the whole", e.View, e.Base, e.Have)
}

// Know stores a list of clusters. It removes clusters that are not in the list, and keeps the profiles of the others.
func (v *View) Know(m *Clusters) {
	all := make(map[int]Picture, len(m.All))
	for _, c := range m.All {
		p := v.Clusters[c.C]
		p.Info, p.Links = c, nil
		all[c.C] = p
	}
	for _, l := range m.Links {
		for _, end := range []int{l.A, l.B} {
			if p, ok := all[end]; ok {
				p.Links = append(p.Links, l)
				all[end] = p
			}
		}
	}
	v.Clusters = all
}

// Apply applies a change. After an error, a *Problem or a *BaseError, the view is unchanged.
func (v *View) Apply(c *Change) error {
	if p := Check(c); p != nil {
		return fmt.Errorf("view %d: %w", c.View, p)
	}
	if c.Base != 0 && c.Base != v.Number {
		return &BaseError{View: c.View, Base: c.Base, Have: v.Number}
	}
	all := make(map[int]Picture, len(v.Clusters))
	for number, p := range v.Clusters {
		if c.Base == 0 {
			p.Steps = nil
		}
		all[number] = p
	}
	for i := range c.All {
		one := &c.All[i]
		p := all[one.C]
		if one.Kind&KindInfo != 0 {
			p.Info = *one.Info
		}
		if one.Kind&KindLinks != 0 {
			p.Links = one.Links
		}
		if one.Kind&KindOccupation != 0 {
			steps, ok := splice(p.Steps, one)
			if !ok {
				return fmt.Errorf("view %d: %w", c.View, &Problem{CodeFrame, element("all", i) + ".to", "what comes after it is not known"})
			}
			p.Steps = steps
		}
		all[one.C] = p
	}
	for number, p := range all {
		p.Steps = From(p.Steps, c.Now)
		all[number] = p
	}
	v.Number, v.Now, v.Est, v.Clusters = c.View, c.Now, c.Est, all
	return nil
}
