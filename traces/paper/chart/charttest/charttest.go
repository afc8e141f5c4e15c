// Package charttest finds texts in a chart that cannot be read. It is for tests.
//
//	for _, fault := range charttest.Faults(svg) {
//		t.Error(fault)
//	}
package charttest

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"accordion/traces/paper/chart"
)

// words is a text of a drawing with its place.
type words struct {
	X     float64 `xml:"x,attr"`
	Y     float64 `xml:"y,attr"`
	Style string  `xml:"style,attr"`
	Turn  string  `xml:"transform,attr"`
	Text  string  `xml:",chardata"`
	right float64
}

var size = regexp.MustCompile(`font-size:([0-9.]+)px`)

// Faults returns a sentence for each text of an SVG that leaves the page or overlaps the next text in its line, when a browser shows it in a
// wider font.
func Faults(svg []byte) (faults []string) {
	var wide float64
	var before *words
	for decoder := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return faults
		}
		if err != nil {
			return append(faults, "it is not well-formed: "+err.Error())
		}
		start, is := token.(xml.StartElement)
		if is && start.Name.Local == "svg" {
			for _, a := range start.Attr {
				if box := strings.Fields(a.Value); a.Name.Local == "viewBox" && len(box) == 4 {
					wide, _ = strconv.ParseFloat(box[2], 64)
				}
			}
		}
		if !is || start.Name.Local != "text" {
			continue
		}
		w := &words{}
		if err := decoder.DecodeElement(w, &start); err != nil {
			return append(faults, err.Error())
		}
		if strings.Contains(w.Turn, "rotate") || size.FindStringSubmatch(w.Style) == nil {
			continue
		}
		points, _ := strconv.ParseFloat(size.FindStringSubmatch(w.Style)[1], 64)
		style := text.Style{Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Points(points)), Handler: plot.DefaultTextHandler}
		w.right = w.X + chart.Wider*float64(style.Width(w.Text))
		if w.X < 0 || w.right > wide {
			faults = append(faults, fmt.Sprintf("%q is from %.0f to %.0f on a page of %.0f points", w.Text, w.X, w.right, wide))
		}
		if before != nil && before.Y == w.Y && before.X < w.X && before.right > w.X {
			faults = append(faults, fmt.Sprintf("%q runs into %q", before.Text, w.Text))
		}
		before = w
	}
}
