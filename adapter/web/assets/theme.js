// The page's colors, for canvases.

import { readColours, rgb } from "./charts.js";

export const theme = { kinds: {} };

export function readTheme() {
  readColours(theme, ["card", "ink", "soft", "faint", "line", "wash", "accent", "late", "away"]);
  readColours(theme.kinds, ["ordinary", "evolving", "moldable", "rigid", "delegated"]);
}

const shades = new Map();

// shade returns the color of a kind of jobs, slightly varied by job number, so that neighbors can be distinguished.
export function shade(kind, id) {
  const hex = theme.kinds[kind] || theme.kinds.ordinary, by = [0, 0.17, -0.15][id % 3];
  const key = hex + "/" + by;
  let colour = shades.get(key);
  if (!colour) {
    colour = "#" + rgb(hex).map(c => Math.round(by > 0 ? c + (255 - c) * by : c * (1 + by)).toString(16).padStart(2, "0")).join("");
    shades.set(key, colour);
  }
  return colour;
}
