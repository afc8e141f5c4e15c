// The page of a cluster.

import { Cluster } from "./cluster.js";
import { feed } from "./feed.js";
import { NodeMap } from "./nodes.js";
import { Queue } from "./queue.js";
import { readTheme, theme } from "./theme.js";
import { away, clock, count, el, hosts, jobLink, kindName, span, who } from "./words.js";

const user = new URLSearchParams(location.search).get("user") || "";
const chosen = job => !user || job.user === user;
const byId = id => document.getElementById(id);

readTheme();
const gantt = new Cluster(feed, chosen), map = new NodeMap(feed, chosen), queue = new Queue(feed, user);
byId("user").value = user;

// STALE is the age in seconds of the reading from which on the page says that the batch system does not answer.
const STALE = 120;

function headline() {
  const { state } = feed;
  if (!state) {
    byId("live").textContent = "";
    return;
  }
  const now = feed.now(), where = state.cluster ? " on " + state.cluster : "";
  const title = user && !state.private ? "Jobs of " + user : state.cluster || "The cluster";
  byId("title").textContent = title;
  document.title = title + (user ? where : "") + " · Accordion";
  const kicker = document.querySelector(".kicker");
  if (user) kicker.replaceChildren(el("a", { href: "./" }, "Accordion" + where + ": everybody"));
  const mine = state.jobs.filter(chosen), hold = mine.filter(j => j.holds), held = new Set(hold.flatMap(j => hosts(j.nodes))).size; // jobs may share nodes
  byId("sum").textContent = (user ? "" : count(state.nodes.length, "node") + " · ") + count(hold.length, "job") + " on " + count(held, "node") + " · " + (mine.length - hold.length).toLocaleString("en") + " wait" +
    (state.all ? " · every job is planned" : "");
  byId("soft").hidden = !state.soft;
  byId("soft").textContent = state.soft ? "Promises are soft: " + state.soft : "";
  byId("user-field").hidden = !!state.private;
  status(now);
}

function status(now) {
  const { state } = feed, live = byId("live");
  let text = "live", bad = false;
  if (!feed.connected) [text, bad] = ["The connection is lost; it is tried again. This is as of " + clock(state.now, now, true) + ".", true];
  else if ((now - state.read) / state.pace > STALE) [text, bad] = ["The batch system has not answered since " + clock(state.read, now, true) + ", " + away(state.read, now) + ".", true];
  live.classList.toggle("bad", bad);
  live.classList.toggle("good", !bad);
  if (live.textContent !== text) live.textContent = text;
}

function promises() {
  const { state } = feed, now = feed.now();
  const late = state.jobs.filter(j => j.phase === "late" && chosen(j));
  const broken = state.broken.filter(chosen).slice().reverse();
  byId("promises").hidden = !late.length && !broken.length;
  const items = late.map(j => el("li", null, el("a", { href: jobLink(j.id) }, who(j, state)), " is late: it was to be " + (j.step && j.plan && j.step < j.plan.length ? "done with step " + j.step : "over") + " by now. It is warned before it is ended."));
  for (const b of broken.slice(0, 12)) {
    items.push(el("li", null, el("time", null, clock(b.at, now)), " ", feed.jobs.has(b.id) ? el("a", { href: jobLink(b.id) }, who(b, state)) : who(b, state), ": its end moved by " + span(b.seconds) + ". Cause: ", el("b", null, causes[b.cause] || b.cause || "not known"), "."));
  }
  if (broken.length > 12) items.push(el("li", null, "and " + (broken.length - 12) + " more"));
  byId("promise-list").replaceChildren(...items);
}

const causes = {
  "late application": "its own application was late", "late shrinker": "another evolving job gave its nodes back late", "ordinary overrun": "an ordinary job held its nodes past its limit",
  "lost node": "a node was lost", "booting node": "a node had to boot", "limit": "a limit of the site", "batch system": "the batch system had not freed the nodes",
  "turn": "other users' turns came first", "sidecar": "the sidecar stood still, or did not run", "outage": "the batch system did not answer",
};

function legend() {
  const here = new Set(feed.state.jobs.concat(feed.state.past).map(j => j.kind));
  const swatch = (name, make) => {
    const i = el("i", null);
    make(i.style);
    return el("span", null, i, name);
  };
  const entries = ["evolving", "moldable", "rigid", "delegated", "ordinary"].filter(k => here.has(k)).map(k => swatch(kindName(k), s => { s.background = theme.kinds[k]; }));
  const c = theme.kinds.evolving, paler = (name, percent) => swatch(name, s => { s.background = `color-mix(in srgb, ${c} ${percent}%, transparent)`; });
  entries.push(paler("held before", 50), paler("promised", 62), paler("planned", 14));
  Object.assign(entries.at(-1).firstChild.style, { outline: "1px dashed " + c, outlineOffset: "-1px" });
  byId("legend").replaceChildren(...entries);
}

feed.listeners.push(() => {
  headline();
  if (!feed.state || !feed.connected) return;
  const begun = performance.now();
  promises();
  legend();
  gantt.arrived();
  map.arrived();
  queue.arrived();
  document.documentElement.dataset.took = (performance.now() - begun).toFixed(1);
  document.documentElement.dataset.ready = "";
});
setInterval(() => {
  if (!feed.state || document.hidden) return;
  status(feed.now());
  if (gantt.view.follows) gantt.view.changed();
}, 1000);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readTheme();
  if (!feed.state) return;
  legend();
  gantt.view.changed();
  map.draw();
});
addEventListener("keydown", e => {
  if (e.key !== "/" || e.ctrlKey || e.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
  e.preventDefault();
  byId("find").focus();
});
feed.open();
