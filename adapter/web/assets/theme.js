// The page's colours, as the canvases need them.

import { rgb } from "./draw.js";

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
