// From rectangles to pixels. If jobs are smaller than a pixel, each pixel has the colors of the jobs in it, in proportion
// to their node-time there. No job hides another one, and free nodes have the background's color. Rectangles never
// overlap, so that the cost of a picture depends on its pixels, not on the number of jobs.

let sums = new Float32Array(0);

// rasterise draws a window of time and nodes into w × h pixels. `palette` has [r, g, b] for each color.
// `colour` and `end` have the color and the end of each job. Rectangles that are large enough are separated
// from the next one.
function rasterise(rects, window, w, h, colour, palette, end) {
  const cells = w * h * 4;
  if (sums.length < cells) sums = new Float32Array(cells);
  else sums.fill(0, 0, cells);
  const found = rects.between(window.from, window.to, window.top, window.bottom);
  const sx = w / (window.to - window.from), sy = h / (window.bottom - window.top);
  for (let k = 0; k < found; k++) {
    const i = rects.found[k];
    const job = rects.job[i];
    let x0 = (rects.from[i] - window.from) * sx, x1 = (rects.to[i] - window.from) * sx;
    let y0 = (rects.top[i] - window.top) * sy, y1 = (rects.bottom[i] - window.top) * sy;
    if (x1 - x0 > 6 && rects.to[i] === end[job]) x1 -= 0.8;
    if (y1 - y0 > 6) y1 -= 0.6;
    x0 = Math.max(0, x0); x1 = Math.min(w, x1);
    y0 = Math.max(0, y0); y1 = Math.min(h, y1);
    if (x1 > x0 && y1 > y0) cover(x0, x1, y0, y1, w, palette[colour[job]]);
  }
  const image = new ImageData(w, h), out = image.data;
  for (let p = 0; p < cells; p += 4) {
    const share = sums[p + 3];
    if (share <= 0) continue;
    out[p] = sums[p] / share;
    out[p + 1] = sums[p + 1] / share;
    out[p + 2] = sums[p + 2] / share;
    out[p + 3] = Math.min(255, share * 255 + 0.5);
  }
  return image;
}

// cover adds a rectangle's color to the pixels that it touches, in proportion to the part that it covers.
function cover(x0, x1, y0, y1, w, rgb) {
  const [r, g, b] = rgb;
  const left = x0 | 0, right = Math.ceil(x1) - 1, bottom = Math.ceil(y1) - 1;
  for (let y = y0 | 0; y <= bottom; y++) {
    const high = Math.min(y1, y + 1) - Math.max(y0, y);
    let p = (y * w + left) * 4;
    for (let x = left; x <= right; x++, p += 4) {
      const share = x > left && x < right ? high : high * (Math.min(x1, x + 1) - Math.max(x0, x));
      sums[p] += r * share;
      sums[p + 1] += g * share;
      sums[p + 2] += b * share;
      sums[p + 3] += share;
    }
  }
}

// Tiles are pictures of periods at one scale: panning shows them again and draws only new ones. Until the new tiles of
// another scale are there, the old ones are shown, stretched.
class Tiles {
  constructor() { this.now = this.before = { key: "", kept: new Map() }; }

  // scale sets what is shown, and the size of a tile: seconds, and nodes from top to bottom.
  scale(key, span, top, bottom) {
    if (key === this.now.key) return;
    if (this.now.whole) this.before = this.now; // tiles that were never completely shown are not used
    this.now = { key, span, top, bottom, kept: new Map() };
  }

  forget() { this.now = this.before = { key: "", kept: new Map() }; }

  // get returns the tile that begins at k·span, or null if the frame's time is used up.
  get(k, deadline, draw) {
    const { kept } = this.now;
    let tile = kept.get(k);
    if (tile) {
      kept.delete(k); // the most recently used tile is kept longest
      kept.set(k, tile);
      return tile;
    }
    if (performance.now() > deadline) return null;
    tile = draw(k);
    kept.set(k, tile);
    if (kept.size > 40) kept.delete(kept.keys().next().value);
    return tile;
  }
}
