// All memories of a user, as they are now, as they were true then, and as they were known then.

import { Pages, get } from "./api.js";
import { el, fill } from "./dom.js";
import { about, choice, empty, field, head, load, plural, time, toLocal, fromLocal, words, briefOf } from "./parts.js";
import { go, link } from "./route.js";
import { windowed } from "./window.js";

const STEPS = 1000;
const PAUSE_MS = 250;
const FIELDS = "content,value,type,category,status,event_timestamp,valid_from,valid_until,session_id,actor";
const STATUSES = [["", "In use"], ["all", "All"], ...["active", "superseded", "decayed", "compressed", "archived", "deleted"].map((name) => [name, name])];
const TYPES = [["", "All"], ["episodic", "Episodic"], ["semantic", "Semantic"], ["procedural", "Procedural"]];

export async function render(place, { query, user, signal }) {
  const state = { status: "", type: "", session: "", tag: "", at: "", known: "", ...Object.fromEntries(query) };
  const list = el("section", { "aria-label": "Memories" });
  const count = el("p.small", { "aria-live": "polite" });
  const sentence = el("p.lead");
  let running = new AbortController();

  function refresh() {
    running.abort();
    running = new AbortController();
    signal.addEventListener("abort", () => running.abort(), { once: true });
    const { user: _, ...kept } = state;
    go(link("memories", "", kept), { isQuiet: true });
    fill(sentence, said(state));
    const none = empty("No memory fits", state.at || state.known ? "Nothing of this was true or known then. Move the time, or set it back to now." : "Nothing is saved for this user, or the filters let nothing through.");
    const oncount = (loaded, isAll) => fill(count, `${plural(loaded, "memory", "memories")}${isAll ? "" : " so far"}`);
    return windowed(list, new Pages("/api/v1/memories", "memories", asked(state, user)), row, { none, oncount, signal: running.signal });
  }

  const filters = el(
    "div.fields.short",
    field("Status", choice("status", STATUSES, state.status, (value) => ((state.status = value), refresh()))),
    field("Type", choice("type", TYPES, state.type, (value) => ((state.type = value), refresh()))),
    field("Session", text("session", state, refresh)),
    field("Tag", text("tag", state, refresh)),
  );
  const range = el("div.when");
  fill(place, head("Memories in time", "Everything that is kept of this user. Set the clocks back to see what was true on a day, as far as it was known on another."), el("section.panel", { "aria-label": "Time" }, range, sentence), el("section", { "aria-label": "Filters" }, filters, count), list);
  await Promise.all([refresh(), load(range, () => sliders(state, user, refresh, signal), { rows: 1 })]);
}

function asked(state, user) {
  return { user_id: user, limit: 100, fields: FIELDS, status: state.status, type: state.type, session_id: state.session, tag: state.tag, at: state.at, known_at: state.known };
}

function said(state) {
  const truth = state.at ? `true on ${words(state.at)}` : "true now";
  return state.known ? `What was ${truth.replace("true now", "true")}, as it was known on ${words(state.known)}.` : `What ${state.at ? "was" : "is"} ${truth}, by all that is known today.`;
}

function text(name, state, refresh) {
  return el("input", {
    value: state[name],
    autocomplete: "off",
    placeholder: "any",
    onchange: (event) => {
      state[name] = event.target.value.trim();
      refresh();
    },
  });
}

function row(memory) {
  const isPast = !["active", "compressed"].includes(memory.status);
  return [el("p.words", { class: isPast ? "words past" : "words" }, el("a", { href: link("memory", memory.id) }, briefOf(memory))), about({ ...memory, session_id: null }, memory.valid_until ? el("span", "until ", time(memory.valid_until)) : null)];
}

/** Two sliders, from the earliest moment that is known of to now. */
async function sliders(state, user, refresh, signal) {
  const [oldest, newest, first] = await Promise.all([
    get("/api/v1/memories", { user_id: user, status: "all", order: "asc", limit: 100, fields: "event_timestamp" }, { signal }),
    get("/api/v1/memories", { user_id: user, status: "all", limit: 100, fields: "event_timestamp" }, { signal }),
    get("/api/v1/timeline", { user_id: user, limit: 1 }, { signal }),
  ]);
  const moments = [...oldest.memories, ...newest.memories].map((memory) => Date.parse(memory.event_timestamp));
  const since = moments.length ? Math.min(...moments) : Date.now() - 86400000;
  const known = first.events.length ? Date.parse(first.events[0].occurred_at) : since;
  return [slider("True then", "at", since, "now", state, refresh), slider("Known then", "known", known, "today", state, refresh)];
}

function slider(label, name, since, nowWord, state, refresh) {
  const until = Date.now();
  const id = `slider-${name}`;
  const shown = el("output", { for: id }, state[name] ? words(state[name]) : nowWord);
  const range = el("input", { id, type: "range", min: 0, max: STEPS, step: 1, value: placeOf(state[name]) });
  const exact = el("input", { type: "datetime-local", value: toLocal(state[name]), "aria-label": `${label}: exact moment` });
  const back = el("button.plain", { type: "button", hidden: !state[name], onclick: () => set("") }, "Back to now");
  let timer = 0;

  function placeOf(moment) {
    return moment ? Math.round(((Date.parse(moment) - since) / (until - since || 1)) * STEPS) : STEPS;
  }
  function set(moment, { isSliding = false } = {}) {
    state[name] = moment;
    fill(shown, moment ? words(moment) : nowWord);
    range.setAttribute("aria-valuetext", moment ? words(moment) : nowWord);
    if (!isSliding) range.value = placeOf(moment);
    exact.value = toLocal(moment);
    back.hidden = !moment;
    clearTimeout(timer);
    timer = setTimeout(refresh, isSliding ? PAUSE_MS : 0);
  }

  range.setAttribute("aria-valuetext", shown.textContent);
  range.addEventListener("input", () => {
    const part = Number(range.value);
    set(part >= STEPS ? "" : new Date(since + ((until - since) * part) / STEPS).toISOString(), { isSliding: true });
  });
  exact.addEventListener("change", () => set(fromLocal(exact.value)));
  return el(
    "div.slider",
    el("div.top", el("label.strong", { for: id }, label), shown),
    range,
    el("div.ends", el("span", words(since, { isDay: true })), el("span", "now")),
    el("div.row", exact, back),
  );
}
