// The charts over time besides the Gantt chart (overview, load, queue), and the distributions.

const series = { load: [], queue: [] }; // per policy

function shownPolicies() { // the policy of the Gantt chart comes last, so that it is drawn on top
  const shown = facts.policies.map((_, i) => i).filter(i => !view.hidden.has(i) && i !== view.policy);
  return [...shown, view.policy];
}

// Sheet is a picture of step lines, which is kept until something other than the pointer's instant changes. It is painted
// pixel by pixel, because a canvas takes ten times as long for lines of horizontal and vertical parts.
class Sheet {
  constructor() {
    this.key = "";
    this.canvas = document.createElement("canvas");
  }

  // begin returns false if the picture already shows this key.
  begin(key, wide, high) {
    if (key === this.key) return false;
    this.key = key;
    if (!this.image || this.image.width !== wide || this.image.height !== high) {
      Object.assign(this.canvas, { width: wide, height: high });
      this.image = new ImageData(wide, high);
      this.pixels = new Uint32Array(this.image.data.buffer);
    } else this.pixels.fill(0);
    return true;
  }

  end() { this.canvas.getContext("2d").putImageData(this.image, 0, 0); }

  // area fills the area below the values, which are one pixel wide each.
  area(values, colour, alpha) {
    const { width, height } = this.image, ink = abgr(colour, alpha);
    for (let x = 0; x < width; x++) for (let y = height - Math.round(values[x]); y < height; y++) this.pixels[Math.max(0, y) * width + x] = ink;
  }

  line(values, colour, alpha, thick, dashed) {
    const { width, height } = this.image, ink = abgr(colour, alpha);
    let before = -1;
    for (let x = 0; x < width; x++) {
      const y = Math.min(height - thick, Math.max(0, height - thick - Math.round(values[x])));
      const top = before < 0 ? y : Math.min(y, before), bottom = (before < 0 ? y : Math.max(y, before)) + thick;
      const wide = bottom - top > thick ? Math.min(thick, width - x) : 1;
      before = y;
      if (dashed && x % 10 > 6) continue;
      for (let row = top; row < bottom; row++) for (let k = 0; k < wide; k++) this.pixels[row * width + x + k] = ink;
    }
  }
}

function abgr(hex, alpha) {
  const [r, g, b] = rgb(hex);
  return (Math.round(alpha * 255) << 24 | b << 16 | g << 8 | r) >>> 0;
}

const sheets = { load: new Sheet(), queue: new Sheet(), overview: new Sheet() };

function drawTrack(name, all, fixedTop) {
  const { pen, width, height, ratio, plot } = track(document.getElementById(name));
  const top = 6, bottom = height - 8, shown = shownPolicies(), sheet = sheets[name];
  const wide = Math.round(plot * ratio), high = Math.round((bottom - top) * ratio);
  if (sheet.begin([view.from, view.to, shown, wide, high, theme.dark].join(), wide, high)) {
    const means = shown.map(i => all[i].means(view.from, view.to, wide));
    sheet.ticks = fixedTop ? [0, fixedTop / 2, fixedTop] : roundTicks(means);
    sheet.most = sheet.ticks[sheet.ticks.length - 1];
    const thick = Math.max(1, Math.round(ratio)), main = shown.length - 1;
    for (const m of means) for (let i = 0; i < m.length; i++) m[i] *= high / sheet.most;
    sheet.area(means[main], theme.policies[view.policy], 0.13);
    shown.forEach((policy, k) => sheet.line(means[k], theme.policies[policy], k === main ? 1 : 0.72, k === main ? Math.round(1.7 * thick) : thick, policy > 9));
    sheet.end();
  }
  axis(pen, plot, view.from, view.to, top, bottom, false);
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const v of sheet.ticks) {
    const y = bottom - v / sheet.most * (bottom - top);
    pen.fillStyle = theme.line;
    pen.fillRect(GUTTER, Math.round(y), plot, 1);
    pen.fillStyle = theme.soft;
    pen.fillText(fixedTop ? Math.round(100 * v / fixedTop) + thinSpace + "%" : grouped(v), GUTTER - 8, y);
  }
  pen.drawImage(sheet.canvas, GUTTER, top, plot, bottom - top);
  crosshair(pen, plot, top, bottom);
  if (view.hover !== null) readout(pen, width, shown, i => all[i].now(view.hover));
}

// roundTicks returns some round values from 0 to beyond the largest.
function roundTicks(means) {
  let most = 1;
  for (const m of means) for (const v of m) if (v > most) most = v;
  const ticks = valueTicks(most, 4), gap = ticks[1] - ticks[0];
  while (ticks[ticks.length - 1] < most) ticks.push(ticks[ticks.length - 1] + gap);
  return ticks;
}

// readout writes each policy's value under the pointer at the top right.
function readout(pen, width, shown, value) {
  pen.textAlign = "right";
  pen.textBaseline = "top";
  let right = width - EDGE - 6;
  for (const i of shown.slice(-5).reverse()) {
    const text = grouped(value(i)), name = facts.policies[i].slice(0, 18);
    pen.font = "600 11.5px " + theme.font;
    const wide = pen.measureText(text).width;
    pen.font = "11.5px " + theme.font;
    const whole = wide + pen.measureText(name + " ").width;
    pen.fillStyle = theme.card;
    pen.globalAlpha = 0.86;
    pen.fillRect(right - whole - 5, 5, whole + 10, 17);
    pen.globalAlpha = 1;
    pen.fillStyle = theme.policies[i];
    pen.font = "600 11.5px " + theme.font;
    pen.fillText(text, right, 8);
    pen.font = "11.5px " + theme.font;
    pen.fillText(name, right - wide - 4, 8);
    right -= whole + 20;
  }
}

function drawLoad() { drawTrack("load", series.load, facts.nodes); }
function drawQueue() { drawTrack("queue", series.queue, 0); }

function drawOverview() {
  const { pen, height, ratio, plot } = track(document.getElementById("overview"));
  if (height < 24) return; // not on paper
  const { from, to } = view.whole, bottom = height - 20, top = 2, sheet = sheets.overview;
  const wide = Math.round(plot * ratio), high = Math.round((bottom - top) * ratio);
  if (sheet.begin([view.policy, wide, high, theme.dark].join(), wide, high)) {
    sheet.area(series.load[view.policy].means(from, to, wide).map(v => v / facts.nodes * high), theme.policies[view.policy], 0.4);
    sheet.end();
  }
  pen.drawImage(sheet.canvas, GUTTER, top, plot, bottom - top);
  axis(pen, plot, from, to, bottom, bottom, true);
  const left = GUTTER + (view.from - from) / (to - from) * plot, right = GUTTER + (view.to - from) / (to - from) * plot;
  pen.fillStyle = theme.card;
  pen.globalAlpha = 0.72;
  pen.fillRect(GUTTER, top, left - GUTTER, bottom - top);
  pen.fillRect(right, top, GUTTER + plot - right, bottom - top);
  pen.globalAlpha = 1;
  pen.strokeStyle = theme.accent;
  pen.lineWidth = 1.5;
  pen.strokeRect(left, top, Math.max(2, right - left), bottom - top);
}

// A drag on the overview draws a new window. A drag inside the window moves it.
function listenOverview() {
  const canvas = document.getElementById("overview");
  const instantAt = event => {
    const box = canvas.getBoundingClientRect();
    const share = (event.clientX - box.left - GUTTER) / (box.width - GUTTER - EDGE);
    return view.whole.from + Math.min(1, Math.max(0, share)) * (view.whole.to - view.whole.from);
  };
  let drag = null;
  canvas.addEventListener("pointerdown", event => {
    const t = instantAt(event), whole = view.to - view.from > 0.98 * (view.whole.to - view.whole.from);
    drag = { t, from: view.from, to: view.to, move: !whole && t > view.from && t < view.to };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    if (!drag) return;
    const t = instantAt(event);
    if (drag.move) view.show(drag.from + t - drag.t, drag.to + t - drag.t);
    else if (Math.abs(t - drag.t) > (view.whole.to - view.whole.from) / 400) view.show(Math.min(t, drag.t), Math.max(t, drag.t));
  });
  canvas.addEventListener("pointerup", event => {
    if (drag && !drag.move && instantAt(event) === drag.t) { // a click moves the window there
      view.pan(drag.t - (view.from + view.to) / 2);
    }
    drag = null;
  });
}

// Load and queue share the pointer's instant with the Gantt chart, and can be dragged like it.
function listenTrack(canvas) {
  let drag = null;
  const at = event => {
    const box = canvas.getBoundingClientRect();
    return (event.clientX - box.left - GUTTER) / (box.width - GUTTER - EDGE);
  };
  canvas.addEventListener("pointerdown", event => {
    drag = { share: at(event), from: view.from, to: view.to };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    const share = at(event);
    if (drag) {
      const by = (drag.share - share) * (drag.to - drag.from);
      view.show(drag.from + by, drag.to + by);
    }
    view.hover = share >= 0 && share <= 1 ? view.from + share * (view.to - view.from) : null;
    view.changed();
  });
  canvas.addEventListener("pointerup", () => drag = null);
  canvas.addEventListener("pointerleave", () => { view.hover = null; view.changed(); });
}
