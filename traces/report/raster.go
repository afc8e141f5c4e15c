package report

import (
	"image"
	"image/color"
	"math"

	"accordion/core"
)

// kindColour has the colors of rigid, moldable and evolving jobs.
var kindColour = [...]color.NRGBA{{R: 0x93, G: 0xa0, B: 0xb4, A: 0xff}, {R: 0x1f, G: 0x9d, B: 0x8a, A: 0xff}, {R: 0xe8, G: 0x81, B: 0x1a, A: 0xff}}

// raster is an image in which each pixel has the colors of all jobs in it, in proportion to their node-time there. So no job hides another
// one, for any number of jobs.
type raster struct {
	wide, high int
	sums       []float32 // red, green, blue and held share of each pixel
}

func newRaster(wide, high int) *raster {
	return &raster{wide: wide, high: high, sums: make([]float32, 4*wide*high)}
}

// cover adds a rectangle, in pixels.
func (r *raster) cover(x0, x1, y0, y1 float64, c color.NRGBA) {
	x0, x1, y0, y1 = max(x0, 0), min(x1, float64(r.wide)), max(y0, 0), min(y1, float64(r.high))
	for y := int(y0); float64(y) < y1; y++ {
		high := min(y1, float64(y+1)) - max(y0, float64(y))
		for x := int(x0); float64(x) < x1; x++ {
			share := float32(high * (min(x1, float64(x+1)) - max(x0, float64(x))))
			cell := r.sums[4*(y*r.wide+x):]
			cell[0] += float32(c.R) * share
			cell[1] += float32(c.G) * share
			cell[2] += float32(c.B) * share
			cell[3] += share
		}
	}
}

// image returns the image. Free nodes are transparent.
func (r *raster) image() *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, r.wide, r.high))
	for i := 0; i < len(r.sums); i += 4 {
		share := r.sums[i+3]
		if share <= 0 {
			continue
		}
		for c := range 3 {
			out.Pix[i+c] = uint8(math.Round(float64(min(255, r.sums[i+c]/share))))
		}
		out.Pix[i+3] = uint8(min(255, share*255+0.5))
	}
	return out
}

// gap is the distance between neighboring jobs in pixels, if there is room.
const gap = 1.5

// rasterised returns a policy's Gantt chart between two seconds as an image of this size.
func (r *Report) rasterised(policy int, from, to core.Time, wide, high int) *image.NRGBA {
	picture := newRaster(wide, high)
	sx, sy := float64(wide)/float64(to-from), float64(high)/float64(r.Workload.Machine.Nodes)
	for i, stretches := range r.Replays[policy].Held {
		c := kindColour[r.Workload.Jobs[i].Kind()]
		for k, s := range stretches {
			for _, n := range s.Nodes {
				x0, x1, y0, y1 := float64(s.From-from)*sx, float64(s.To-from)*sx, float64(n.First)*sy, float64(n.Last+1)*sy
				if k == len(stretches)-1 && x1-x0 > 8 {
					x1 -= gap
				}
				if y1-y0 > 8 {
					y1 -= gap
				}
				picture.cover(x0, x1, y0, y1, c)
			}
		}
	}
	return picture.image()
}
