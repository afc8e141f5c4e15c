// The charts over time besides the Gantt chart (the overview, load, queue), and the distributions.

const series = { load: [], queue: [] }; // of each policy

function shownPolicies() { // the one with the Gantt chart last, over the others
  const shown = facts.policies.map((_, i) => i).filter(i => !view.hidden.has(i) && i !== view.policy);
  return [...shown, view.policy];
}

// stairs draws one value a pixel as a line of steps.
function stairs(pen, values, step, y) {
  pen.beginPath();
  let last = NaN;
  for (let i = 0; i < values.length; i++) {
    const at = y(values[i]);
    if (at !== last) {
      if (i === 0) pen.moveTo(GUTTER, at);
      else { pen.lineTo(GUTTER + i * step, last); pen.lineTo(GUTTER + i * step, at); }
      last = at;
    }
  }
  pen.lineTo(GUTTER + values.length * step, last);
}

function drawTrack(canvas, all, fixedTop) {
  const { pen, width, height, plot } = surface(canvas);
  const top = 6, bottom = height - 8, columns = Math.max(1, Math.floor(plot)), step = plot / columns;
  const shown = shownPolicies();
  const means = new Map(shown.map(i => [i, all[i].means(view.from, view.to, columns)]));
  let most = fixedTop || 0;
  if (!fixedTop) for (const m of means.values()) for (const v of m) if (v > most) most = v;
  const ticks = fixedTop ? [0, fixedTop / 2, fixedTop] : valueTicks(Math.max(most, 1), 4);
  if (!fixedTop) {
    const gap = ticks[1] - ticks[0];
    while (ticks[ticks.length - 1] < most) ticks.push(ticks[ticks.length - 1] + gap);
    most = ticks[ticks.length - 1];
  }
  const y = v => bottom - v / most * (bottom - top);
  timeAxis(pen, plot, view.from, view.to, top, bottom, false);
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const v of ticks) {
    pen.fillStyle = theme.line;
    pen.fillRect(GUTTER, Math.round(y(v)), plot, 1);
    pen.fillStyle = theme.soft;
    pen.fillText(fixedTop ? Math.round(100 * v / fixedTop) + thinSpace + "%" : v < 1 && v > 0 ? decimal(v) : grouped(v), GUTTER - 8, y(v));
  }
  for (const i of shown) {
    const main = i === view.policy;
    pen.strokeStyle = pen.fillStyle = theme.policies[i];
    stairs(pen, means.get(i), step, y);
    pen.globalAlpha = main ? 1 : 0.75;
    pen.lineWidth = main ? 1.6 : 1.1;
    pen.setLineDash(dashes(i));
    pen.stroke();
    pen.setLineDash([]);
    if (main) {
      pen.lineTo(GUTTER + plot, y(0));
      pen.lineTo(GUTTER, y(0));
      pen.globalAlpha = 0.13;
      pen.fill();
    }
    pen.globalAlpha = 1;
  }
  pen.lineWidth = 1;
  crosshair(pen, plot, top, bottom);
  if (view.hover !== null) readout(pen, width, shown, i => all[i].now(view.hover));
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

function drawLoad() { drawTrack(document.getElementById("load"), series.load, facts.nodes); }
function drawQueue() { drawTrack(document.getElementById("queue"), series.queue, 0); }

function drawOverview() {
  const { pen, height, plot } = surface(document.getElementById("overview"));
  const { from, to } = view.whole, bottom = height - 20, top = 2;
  const load = series.load[view.policy], columns = Math.max(1, Math.floor(plot));
  stairs(pen, load.means(from, to, columns), plot / columns, v => bottom - v / facts.nodes * (bottom - top));
  pen.lineTo(GUTTER + plot, bottom);
  pen.lineTo(GUTTER, bottom);
  pen.fillStyle = theme.policies[view.policy];
  pen.globalAlpha = 0.38;
  pen.fill();
  pen.globalAlpha = 1;
  timeAxis(pen, plot, from, to, bottom, bottom, true);
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

// Dragging on the overview draws a new window; inside the window it moves it.
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
    if (drag && !drag.move && instantAt(event) === drag.t) { // a click: there
      view.pan(drag.t - (view.from + view.to) / 2);
    }
    drag = null;
  });
}

// Load and queue share the pointer's instant with the Gantt chart, and are dragged like it.
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
