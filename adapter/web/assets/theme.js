// The page's colours, as the canvases need them.

export const theme = { kinds: {} };

const names = ["card", "ink", "soft", "faint", "line", "wash", "accent", "late", "away"];

export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of names) theme[name] = style.getPropertyValue("--" + name).trim();
  for (const kind of ["ordinary", "evolving", "moldable", "rigid", "delegated"]) {
    theme.kinds[kind] = style.getPropertyValue("--" + kind).trim();
  }
  theme.font = getComputedStyle(document.body).fontFamily || "sans-serif";
}

function rgb(hex) { return [1, 3, 5].map(k => parseInt(hex.slice(k, k + 2), 16)); }

const tints = new Map();

// tint is a colour that lets so much of what is under it through.
export function tint(hex, alpha) {
  const key = hex + alpha;
  let colour = tints.get(key);
  if (!colour) tints.set(key, colour = "rgba(" + rgb(hex).join(",") + "," + alpha + ")");
  return colour;
}

// shade is a kind's colour, a little lighter or darker for one job than for another, so that neighbours are told apart.
export function shade(kind, id) {
  const hex = theme.kinds[kind] || theme.kinds.ordinary, by = [0, 0.17, -0.15][id % 3];
  const key = hex + "/" + by;
  let colour = tints.get(key);
  if (!colour) {
    colour = "#" + rgb(hex).map(c => Math.round(by > 0 ? c + (255 - c) * by : c * (1 + by)).toString(16).padStart(2, "0")).join("");
    tints.set(key, colour);
  }
  return colour;
}

// luminance as the guidelines for contrast have it.
function luminance(hex) {
  const [r, g, b] = rgb(hex).map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// readable is black or white, whichever is read better on a colour.
export function readable(hex) { return luminance(hex) > 0.18 ? "#10151c" : "#ffffff"; }

// surface makes a canvas as sharp as the screen and returns its pen, with the page's pixels as units.
export function surface(canvas) {
  const box = canvas.getBoundingClientRect(), ratio = Math.min(window.devicePixelRatio || 1, 3);
  const width = Math.max(1, box.width), height = Math.max(1, box.height);
  const w = Math.round(width * ratio), h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height };
}
