// Formatted times and numbers. Times are seconds of the workload. They are shown as dates if the date of second 0 is
// known, otherwise as days.

const MINUTE = 60, HOUR = 3600, DAY = 86400, WEEK = 7 * DAY;
const dated = facts.begin !== null;
const thinSpace = "\u202f";

function date(t) { return new Date((facts.begin + t) * 1000); }

function grouped(n) { return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, n >= 10000 ? thinSpace : ""); }

// instant returns 3 Nov 2006 14:05, or day 12, 14:05; with seconds if they matter.
function instant(t, seconds) {
  const of = Math.floor(t);
  if (dated) {
    const d = date(of);
    if (isNaN(d)) return grouped(of) + thinSpace + "s";
    return d.getUTCDate() + " " + months[d.getUTCMonth()] + " " + d.getUTCFullYear() + " " + clock(d.getUTCHours() * HOUR + d.getUTCMinutes() * MINUTE + d.getUTCSeconds(), seconds);
  }
  const day = Math.floor(of / DAY);
  return "day " + day + ", " + clock(of - day * DAY, seconds);
}

function clock(s, seconds) {
  return two(Math.floor(s / HOUR)) + ":" + two(Math.floor(s / MINUTE) % 60) + (seconds ? ":" + two(Math.floor(s) % 60) : "");
}

// span returns 1 h 54 min.
function span(s) {
  if (s < 0) return "−" + span(-s);
  if (s < 59.5) return (s < 9.95 && s !== Math.floor(s) ? s.toFixed(1) : Math.round(s)) + thinSpace + "s";
  for (const [name, size, parts, less] of [["y", 365 * DAY, 365, "d"], ["d", DAY, 24, "h"], ["h", HOUR, 60, "min"], ["min", MINUTE, 60, "s"]]) {
    const small = Math.round(s / (size / parts));
    if (small < parts) continue;
    const whole = Math.floor(small / parts), rest = small % parts;
    return grouped(whole) + thinSpace + name + (rest && whole < 100 ? " " + rest + thinSpace + less : "");
  }
  return "1" + thinSpace + "min";
}

function decimal(v) {
  const a = Math.abs(v);
  return a >= 99.95 || a === 0 ? grouped(v) : v.toFixed(a >= 9.995 ? 1 : a >= 0.9995 ? 2 : 3);
}

// ticks returns the ticks of a time axis: some round instants with their labels. Where a larger unit begins (a day, a
// month, a year) the label is that unit, in bold.
function timeTicks(from, to, room) {
  const length = to - from;
  const most = Math.max(2, room);
  const step = timeStep(length, most);
  if (dated && (!step || step > 2 * DAY) && Math.abs(from) < 1e11 && Math.abs(to) < 1e11) return calendarTicks(from, to, most, step);
  return plainTicks(from, to, most, step);
}

function plainTicks(from, to, most, step) {
  step = step || stepOf(to - from, most, DAY);
  const zone = dated ? facts.begin % step : 0; // dates are round, not the seconds of the workload
  const ticks = [];
  for (let t = Math.ceil((from + zone) / step) * step - zone; t <= to; t += step) {
    let text, strong = false;
    if (dated) {
      const d = date(t), midnight = (facts.begin + t) % DAY === 0;
      text = midnight ? d.getUTCDate() + " " + months[d.getUTCMonth()] : clock((facts.begin + t) % DAY, step < MINUTE);
      strong = midnight && step < DAY;
    } else {
      const midnight = t % DAY === 0;
      text = midnight ? "day " + grouped(t / DAY) : clock(((t % DAY) + DAY) % DAY, step < MINUTE);
      strong = midnight && step < DAY;
    }
    ticks.push({ t, text, strong });
  }
  return ticks;
}

function calendarTicks(from, to, most, step) {
  const ticks = [];
  if (step) { // weeks begin on Mondays; 1970 began on a Thursday
    const monday = 4 * DAY;
    for (let t = Math.ceil((facts.begin + from - monday) / step) * step + monday - facts.begin; t <= to; t += step) {
      const d = date(t);
      ticks.push({ t, text: d.getUTCDate() + " " + months[d.getUTCMonth()], strong: d.getUTCDate() <= 7 && step === WEEK });
    }
    return ticks;
  }
  const every = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200].find(m => (to - from) / (m * 30.44 * DAY) <= most) || 12000;
  const begin = date(from);
  for (let m = Math.ceil((begin.getUTCFullYear() * 12 + begin.getUTCMonth()) / every) * every; ; m += every) {
    const at = new Date(0);
    at.setUTCFullYear(Math.floor(m / 12), m % 12, 1);
    const t = at.getTime() / 1000 - facts.begin;
    if (!(t <= to)) return ticks;
    if (t >= from) ticks.push({ t, text: m % 12 === 0 ? String(m / 12) : months[m % 12], strong: m % 12 === 0 });
  }
}

// valueTicks returns a few round ticks from 0.
function valueTicks(most, room) {
  const step = stepOf(most, room), ticks = [];
  for (let v = 0; v <= most * 1.0001; v += step) ticks.push(v);
  return ticks;
}
