// Colors, canvases, texts and time axes for all charts of a page.

// readColours reads colors and the font from the page's style.
export function readColours(theme, names) {
  const style = getComputedStyle(document.body);
  for (const name of names) theme[name] = style.getPropertyValue("--" + name).trim();
  theme.font = style.fontFamily || "sans-serif";
}

export function rgb(hex) { return [1, 3, 5].map(k => parseInt(hex.slice(k, k + 2), 16)); }

// luminance returns the relative luminance as defined in the WCAG contrast guidelines.
function luminance(hex) {
  const [r, g, b] = rgb(hex).map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// readable returns black or white, whichever has more contrast on a color.
export function readable(hex) { return luminance(hex) > 0.18 ? "#10151c" : "#ffffff"; }

// stepOf returns the smallest of 1, 2, 5, 10… units that fits into a length at most `most` times.
export function stepOf(length, most, unit = 1) {
  for (let k = 0; length / unit > most; k++) unit *= [2, 2.5, 2][k % 3];
  return unit;
}

// timeStep returns the shortest round time in seconds that fits into a length at most `most` times. It returns
// undefined if that would be more than two weeks.
export function timeStep(length, most) {
  return [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600].find(s => length / s <= most);
}

export const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

export function two(n) { return String(n).padStart(2, "0"); }

// fit cuts the beginning of a text that is too wide, because names of nodes differ at their ends.
export function fit(pen, text, wide) {
  while (text.length > 2 && pen.measureText(text).width > wide) text = "…" + text.slice(2);
  return text;
}

// surface sets the resolution of a canvas to the screen's resolution. It returns its pen, whose unit is a pixel
// of the page.
export function surface(canvas, font) {
  const box = canvas.getBoundingClientRect(), ratio = Math.min(window.devicePixelRatio || 1, 3);
  const width = Math.max(1, Math.round(box.width)), height = Math.max(1, Math.round(box.height));
  const wide = Math.round(width * ratio), high = Math.round(height * ratio);
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "11.5px " + font;
  pen.lineWidth = 1;
  return { pen, width, height, ratio };
}

// timeAxis draws the ticks of a period: lines from top to bottom, and labels below if there is room.
export function timeAxis(pen, theme, ticks, { left, plot, from, to }, top, bottom, labelled) {
  pen.textAlign = "center";
  pen.textBaseline = "top";
  let free = 0;
  for (const { t, text, strong } of ticks) {
    const x = left + (t - from) * (plot / (to - from));
    pen.fillStyle = strong ? theme.faint : theme.line;
    pen.globalAlpha = strong ? 0.55 : 1;
    pen.fillRect(Math.round(x), top, 1, bottom - top + (labelled ? 5 : 0));
    pen.globalAlpha = 1;
    if (!labelled) continue;
    pen.font = (strong ? "600 " : "") + "11.5px " + theme.font;
    const half = pen.measureText(text).width / 2;
    if (x - half < free || x + half > left + plot + 14) continue;
    free = x + half + 10;
    pen.fillStyle = strong ? theme.ink : theme.soft;
    pen.fillText(text, x, bottom + 8);
  }
  pen.font = "11.5px " + theme.font;
}
