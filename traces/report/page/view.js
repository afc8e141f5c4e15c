// The window of time and nodes that all charts over time share, and what they are drawn with.

// Left and right of every chart over time, in pixels of the page: rows that have names need room for them.
const GUTTER = facts.real ? Math.max(56, 18 + 7 * Math.min(22, facts.real.nodes.reduce((most, name) => Math.max(most, name.length), 0))) : 56, EDGE = 14;

const view = {
  whole: { from: 0, to: 1 }, // the first submission to the last end
  from: 0, to: 1, top: 0, bottom: facts.nodes,
  policy: 0, hidden: new Set(),
  hover: null, // an instant
  listeners: [],
  pending: false,

  // show moves the window, never out of the replay, and never nearer than some seconds or three nodes.
  show(from, to, top = this.top, bottom = this.bottom) {
    const whole = this.whole.to - this.whole.from;
    const length = Math.min(whole, Math.max(to - from, Math.min(whole, 8)));
    from = Math.min(Math.max((from + to - length) / 2, this.whole.from), this.whole.to - length);
    const nodes = Math.min(facts.nodes, Math.max(bottom - top, Math.min(facts.nodes, 3)));
    top = Math.min(Math.max((top + bottom - nodes) / 2, 0), facts.nodes - nodes);
    Object.assign(this, { from, to: from + length, top, bottom: top + nodes });
    this.changed();
  },
  zoom(factor, at) {
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
  },
  zoomNodes(factor, at) {
    this.show(this.from, this.to, at - (at - this.top) * factor, at + (this.bottom - at) * factor);
  },
  pan(time, nodes = 0) {
    this.show(this.from + time, this.to + time, this.top + nodes, this.bottom + nodes);
  },
  all() { this.show(this.whole.from, this.whole.to, 0, facts.nodes); },
  changed() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      for (const draw of this.listeners) draw();
    });
  },
};

// theme is the page's colours, as the canvases need them.
const theme = { dark: false, print: false };

const palettes = {
  kind: { light: ["#93a0b4", "#1f9d8a", "#e8811a"], dark: ["#5f6b7d", "#2fb39f", "#f09a3e"] },
  user: {
    light: ["#4477aa", "#66b8dd", "#2e9d7e", "#b5ac3c", "#e08e3c", "#cc5a6b", "#9b4a9a", "#7a6bd0", "#8a6a4a", "#c3c7ce"],
    dark: ["#5b93cf", "#7fcbee", "#3fb796", "#cdc452", "#eda257", "#e07283", "#ba66b8", "#978af0", "#b08c66", "#4d5460"],
  },
  scale: {
    light: ["#ccdbe6", "#9cc3dc", "#67a3cc", "#3d7fb5", "#38569a", "#3f2f78", "#2a1048"],
    dark: ["#31404f", "#2f5f7d", "#2d83a0", "#3fa9a5", "#78c994", "#c2df7c", "#fdf3a5"],
  },
};

function readTheme() {
  theme.dark = !theme.print && matchMedia("(prefers-color-scheme: dark)").matches;
  const style = getComputedStyle(document.documentElement);
  for (const name of ["page", "card", "ink", "soft", "faint", "line", "wash", "accent", "better", "late"]) theme[name] = style.getPropertyValue("--" + name).trim();
  theme.policies = facts.policies.map((_, i) => style.getPropertyValue("--p" + i % 10).trim());
  theme.font = style.fontFamily || "sans-serif";
}

palettes.job = palettes.user;

function palette(name) { return palettes[name][theme.dark ? "dark" : "light"]; }

function rgb(hex) { return [1, 3, 5].map(k => parseInt(hex.slice(k, k + 2), 16)); }

// surface makes a canvas as sharp as the screen and returns its pen, with the page's pixels as units.
function surface(canvas) {
  const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(box.width)), height = Math.max(1, Math.round(box.height));
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "11.5px " + theme.font;
  pen.lineWidth = 1;
  return { pen, width, height, ratio, plot: Math.max(1, width - GUTTER - EDGE) };
}

// timeAxis draws the ticks of the window, their lines from top to bottom, their labels under it when there is room.
function timeAxis(pen, plot, from, to, top, bottom, labelled) {
  const scale = plot / (to - from);
  pen.textAlign = "center";
  pen.textBaseline = "top";
  let free = -Infinity;
  for (const tick of timeTicks(from, to, plot / 84)) {
    const x = GUTTER + (tick.t - from) * scale;
    pen.fillStyle = tick.strong ? theme.faint : theme.line;
    pen.globalAlpha = tick.strong ? 0.55 : 1;
    pen.fillRect(Math.round(x), top, 1, bottom - top + (labelled ? 5 : 0));
    pen.globalAlpha = 1;
    if (!labelled) continue;
    pen.font = (tick.strong ? "600 " : "") + "11.5px " + theme.font;
    const half = pen.measureText(tick.text).width / 2;
    if (x - half < free || x + half > GUTTER + plot + EDGE) continue;
    free = x + half + 10;
    pen.fillStyle = tick.strong ? theme.ink : theme.soft;
    pen.fillText(tick.text, x, bottom + 8);
  }
  pen.font = "11.5px " + theme.font;
}

// crosshair marks the instant under the pointer in every chart.
function crosshair(pen, plot, top, bottom) {
  if (view.hover === null || view.hover < view.from || view.hover > view.to) return;
  const x = GUTTER + (view.hover - view.from) / (view.to - view.from) * plot;
  pen.fillStyle = theme.ink;
  pen.globalAlpha = 0.45;
  pen.fillRect(Math.round(x), top, 1, bottom - top);
  pen.globalAlpha = 1;
}
