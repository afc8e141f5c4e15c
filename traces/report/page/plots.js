// The distributions: computed in advance, drawn as SVG in the colors of the policies.

const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes, text) {
  const e = document.createElementNS(SVG, name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}

// logarithmic maps values between the ends of an axis to 0…1. Smaller values are at 0.
function logarithmic(least, most) {
  const low = Math.log(least), high = Math.max(Math.log(most), low + 1);
  return v => v <= least ? 0 : Math.min(1, (Math.log(v) - low) / (high - low));
}

function logTicks(unit, least, most) {
  const all = unit === "seconds" ? [1, 10, MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, WEEK, 30 * DAY, 365 * DAY] : [1, 2, 5, 10, 50, 100, 1000, 1e4, 1e5, 1e6];
  return all.filter(v => v >= least && v <= most * 1.001).map(v => [v, unit === "seconds" ? span(v) : grouped(v)]);
}

// frame returns a plot's card with its heading and the SVG in it.
function frame(title, about, width, height) {
  const figure = document.createElement("figure"), heading = document.createElement("h3"), note = document.createElement("p");
  figure.className = "card plot";
  heading.textContent = title;
  note.textContent = about;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title + ". " + about });
  figure.append(heading, note, ...(facts.policies.length > 1 ? [policyLegend()] : []), svg);
  document.getElementById("plots").append(figure);
  return svg;
}

// policyLegend returns the names of the policies next to their colors, because the other legends are several screens
// away.
function policyLegend() {
  const legend = document.createElement("div");
  legend.className = "legend";
  legend.append(...facts.policies.map((name, i) => {
    const entry = document.createElement("span"), key = document.createElement("i");
    key.style.background = `var(--p${i % 10})`;
    entry.append(key, name);
    return entry;
  }));
  return legend;
}

function logAxis(svg, unit, least, most, x, top, bottom) {
  let free = -Infinity;
  for (const [v, text] of logTicks(unit, least, most)) {
    const at = x(v), half = text.length * 3.2;
    svg.append(shape("line", { x1: at, x2: at, y1: top, y2: bottom, stroke: "var(--line)" }));
    if (at - half < free) continue;
    free = at + half + 6;
    svg.append(shape("text", { x: at, y: bottom + 16, "text-anchor": "middle" }, (v === least && unit === "seconds" ? "≤ " : "") + text));
  }
}

function plotCumulative(c) {
  const width = 580, height = 262, left = 44, right = 566, top = 8, bottom = 232;
  const svg = frame(c.title, c.about, width, height);
  const scale = logarithmic(c.least, c.most), x = v => left + scale(v) * (right - left), y = share => bottom - share * (bottom - top);
  logAxis(svg, c.unit, c.least, c.most, x, top, bottom);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(shape("line", { x1: left, x2: right, y1: y(share), y2: y(share), stroke: "var(--line)" }));
    svg.append(shape("text", { x: left - 8, y: y(share) + 4, "text-anchor": "end" }, Math.round(100 * share) + thinSpace + "%"));
  }
  const order = [...c.lines.keys()].reverse(); // the first policy on top of the others
  for (const i of order) {
    let d = "";
    c.lines[i].forEach((share, k) => d += (k ? "L" : "M") + x(c.at[k]).toFixed(1) + " " + y(share).toFixed(1));
    svg.append(shape("path", { d, fill: "none", stroke: `var(--p${i % 10})`, "stroke-width": 2, "stroke-linejoin": "round", "data-policy": i }));
  }
  const cursor = shape("line", { y1: top, y2: bottom, stroke: "var(--ink)", "stroke-opacity": 0.45, visibility: "hidden" });
  const said = svg.parentNode.querySelector("p");
  svg.append(cursor);
  svg.addEventListener("pointermove", event => {
    const box = svg.getBoundingClientRect(), at = (event.clientX - box.left) / box.width * width;
    const k = c.at.findIndex(v => x(v) >= at);
    if (at < left || k < 0) return;
    cursor.setAttribute("x1", x(c.at[k]));
    cursor.setAttribute("x2", x(c.at[k]));
    cursor.setAttribute("visibility", "visible");
    said.textContent = (c.unit === "seconds" ? span(c.at[k]) : decimal(c.at[k])) + " or less: " + facts.policies.map((name, i) => name + " " + (100 * c.lines[i][k]).toFixed(1) + thinSpace + "%").join(", ");
  });
  svg.addEventListener("pointerleave", () => {
    cursor.setAttribute("visibility", "hidden");
    said.textContent = c.about;
  });
}

// plotClasses draws a row per class of jobs, with a dot per policy.
function plotClasses(c) {
  const row = Math.max(34, 12 + 9 * Math.min(facts.policies.length, 10)), width = 580, left = 152, right = 486, top = 6;
  const bottom = top + row * c.classes.length, svg = frame(c.title, c.about, width, bottom + 28);
  const scale = logarithmic(c.least, c.most), x = v => left + scale(v) * (right - left);
  c.classes.forEach((_, k) => { if (k % 2 === 0) svg.append(shape("rect", { x: 0, y: top + k * row, width, height: row, fill: "var(--wash)" })); });
  logAxis(svg, c.unit, c.least, c.most, x, top, bottom);
  c.classes.forEach((name, k) => {
    const middle = top + (k + 0.5) * row;
    svg.append(shape("text", { x: 8, y: middle + 4, class: "strong" }, name));
    svg.append(shape("text", { x: width - 8, y: middle + 4, "text-anchor": "end" }, grouped(c.counts[k]) + (c.counts[k] === 1 ? " job" : " jobs")));
    facts.policies.forEach((policy, i) => {
      const v = c.values[i][k];
      if (v === null) return;
      const y = middle + (i - (facts.policies.length - 1) / 2) * 9;
      svg.append(shape("line", { x1: left, x2: x(v), y1: y, y2: y, stroke: `var(--p${i % 10})`, "stroke-opacity": 0.35, "stroke-width": 2 }));
      const dot = shape("circle", { cx: x(v), cy: y, r: 4, fill: `var(--p${i % 10})` });
      dot.append(shape("title", {}, `${policy}, ${name}: ${c.unit === "seconds" ? span(v) : decimal(v)}`));
      svg.append(dot);
    });
  });
}
