// The window of time and nodes that all charts over time share, and their drawing tools.

// Left and right of every chart over time, in pixels of the page. Named rows need room for their names.
const GUTTER = facts.real ? Math.max(56, 18 + 7 * Math.min(22, facts.real.nodes.reduce((most, name) => Math.max(most, name.length), 0))) : 56, EDGE = 14;

const view = Object.assign(new View(facts.nodes, 8), {
  whole: { from: 0, to: 1 }, // the first submission to the last end
  policy: 0, hidden: new Set(),
});

// theme has the page's colors for the canvases.
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
  readColours(theme, ["card", "ink", "soft", "faint", "line", "wash", "accent", "better", "late", ...facts.policies.map((_, i) => "p" + i % 10)]);
  theme.policies = facts.policies.map((_, i) => theme["p" + i % 10]);
}

palettes.job = palettes.user;

function palette(name) { return palettes[name][theme.dark ? "dark" : "light"]; }

// track returns the surface of a canvas, with the plot width of all charts over time.
function track(canvas) {
  const surfaced = surface(canvas, theme.font);
  return { ...surfaced, plot: Math.max(1, surfaced.width - GUTTER - EDGE) };
}

function axis(pen, plot, from, to, top, bottom, labelled) {
  timeAxis(pen, theme, timeTicks(from, to, plot / 84), { left: GUTTER, plot, from, to }, top, bottom, labelled);
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
