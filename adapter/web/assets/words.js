// Times, sizes and HTML elements. Text from jobs always becomes text of the page, never markup.

import { months, timeStep, two } from "./charts.js";

const MINUTE = 60, HOUR = 3600, DAY = 86400;
const thin = "\u202f";

// el creates an element with attributes and children.
export function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) if (value !== null && value !== undefined && value !== false) e.setAttribute(name, value);
  e.append(...children.filter(c => c !== null && c !== undefined && c !== ""));
  return e;
}

// clock formats an instant in the browser's time zone, with a date if it is not today's.
export function clock(t, now, seconds) {
  const d = new Date(t * 1000), today = new Date(now * 1000);
  const text = two(d.getHours()) + ":" + two(d.getMinutes()) + (seconds ? ":" + two(d.getSeconds()) : "");
  if (d.toDateString() === today.toDateString()) return text;
  return d.getDate() + thin + months[d.getMonth()] + (d.getFullYear() === today.getFullYear() ? "" : " " + d.getFullYear()) + " " + text;
}

// span formats a duration: 1 h 54 min.
export function span(s) {
  s = Math.max(0, Math.round(s));
  if (s < 120) return s + thin + "s";
  if (s < 2 * HOUR) return Math.floor(s / MINUTE) + thin + "min";
  if (s < 2 * DAY) {
    const minutes = Math.floor(s / MINUTE) % 60;
    return Math.floor(s / HOUR) + thin + "h" + (minutes && s < DAY ? " " + minutes + thin + "min" : "");
  }
  return Math.floor(s / DAY) + thin + "days";
}

export function away(t, now) { return t > now ? "in " + span(t - now) : span(now - t) + " ago"; }

export function count(n, what) { return n.toLocaleString("en") + " " + what + (n === 1 ? "" : "s"); }

// ticks returns round instants for a time axis, in the browser's time zone.
export function ticks(from, to, most) {
  let step = timeStep(to - from, most) || 28 * DAY;
  while ((to - from) / step > most) step *= 2;
  const zone = -new Date(from * 1000).getTimezoneOffset() * MINUTE, all = [];
  for (let t = Math.ceil((from + zone) / step) * step - zone; t <= to; t += step) {
    const d = new Date(t * 1000), midnight = d.getHours() + d.getMinutes() + d.getSeconds() === 0;
    all.push({ t, text: midnight ? d.getDate() + " " + months[d.getMonth()] : two(d.getHours()) + ":" + two(d.getMinutes()) + (step < MINUTE ? ":" + two(d.getSeconds()) : ""), strong: midnight });
  }
  return all;
}

const expanded = new Map();

// hosts expands a host list, such as n[1-3,07],m2.
export function hosts(list) {
  if (!list) return [];
  let names = expanded.get(list);
  if (names) return names;
  names = [];
  for (const entry of list.match(/(?:[^,[]|\[[^\]]*\])+/g) || []) {
    let all = [""];
    for (const part of entry.match(/\[[^\]]*\]|[^[]+/g) || []) {
      const ends = part[0] === "[" ? numbers(part.slice(1, -1)) : [part];
      all = all.flatMap(a => ends.map(e => a + e));
    }
    names.push(...all);
  }
  if (expanded.size > 20000) expanded.clear();
  expanded.set(list, names);
  return names;
}

function numbers(text) {
  return text.split(",").flatMap(range => {
    const [low, high] = range.split("-");
    if (high === undefined) return [low];
    return Array.from({ length: Math.max(0, high - low + 1) }, (_, i) => String(+low + i).padStart(low.length, "0"));
  });
}

// who describes a job in a few words.
export function who(job, state) {
  if (state.private) return "job " + job.id + ", a job of somebody";
  return "job " + job.id + (job.name ? " “" + job.name + "”" : "") + (job.user ? " of " + job.user : "");
}

const kinds = { ordinary: "ordinary", evolving: "evolving", moldable: "moldable", rigid: "rigid", delegated: "of a launcher" };
export function kindName(kind) { return kinds[kind] || kind; }

export function jobLink(id) { return "./job?id=" + encodeURIComponent(id); }
