// What all views are made of: states (loading, empty, failed), memories in brief, bars, dates, lists.

import { Problem, get } from "./api.js";
import { announce, el, fill } from "./dom.js";
import { briefText, kindOf, sessionLink } from "./names.js";
import { link } from "./route.js";

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const MINUTE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

/** A moment in the reader's own time zone; the exact one, in UTC, is its tooltip. */
export function time(moment, { isDay = false } = {}) {
  if (!moment) return null;
  return el("time", { datetime: moment, title: moment }, words(moment, { isDay }));
}

/** The same as a text. */
export function words(moment, { isDay = false } = {}) {
  const date = new Date(moment);
  return Number.isNaN(date.getTime()) ? String(moment) : (isDay ? DAY : MINUTE).format(date);
}

/** A number as it is read, to three places. */
export function figure(value) {
  if (value === null || value === undefined) return "–";
  return Number.isInteger(value) ? value.toLocaleString("en-GB") : String(Math.round(value * 1000) / 1000);
}

export const plural = (count, noun, several = `${noun}s`) => `${count.toLocaleString("en-GB")} ${count === 1 ? noun : several}`;

/** The head of a view: its name, what it is for, and what can be done. */
export function head(title, lead, ...actions) {
  return el(
    "header.head",
    el("div", el("h1", { tabindex: "-1" }, title), lead ? el("p.lead", lead) : null),
    actions.length ? el("div.actions", actions) : null,
  );
}

/** Rows that hold the place of what is being loaded. */
export function skeleton(rows = 4) {
  return el("div.skeleton", { role: "status" }, el("span.unseen", "Loading"), Array.from({ length: rows }, () => el("i")));
}

/** That there is nothing, and what would make it otherwise. */
export function empty(title, ...explanation) {
  return el("div.empty", el("p.strong", title), explanation.length ? el("p", explanation) : null);
}

/** That a part of a view is empty, in a line. */
export const nothing = (sentence) => el("p.small", sentence);

/** An error as it was answered, with its correlation id, and a way to try again. */
export function failed(error, retry) {
  if (!(error instanceof Problem)) throw error;
  if (error.isMissingCall) return empty("Not available", "This service does not have the call that this page needs.");
  if (error.status === 403) {
    return el("div.failed", { role: "alert" }, el("p.strong", "This key may not do that"), el("p", error.message), reference(error));
  }
  return el(
    "div.failed",
    { role: "alert" },
    el("p.strong", error.title || "That did not work"),
    el("p", error.message, error.suggestion ? ` Did you mean ${error.suggestion}?` : ""),
    reference(error),
    retry ? el("button", { type: "button", onclick: retry }, "Try again") : null,
  );
}

function reference(error) {
  if (!error.correlationId) return null;
  return el("p.small", error.status ? `Status ${error.status} · ` : "", "correlation id ", el("code", error.correlationId), " ", copyButton(error.correlationId));
}

/** Fill a place by what a promise brings: a skeleton before, an error with a retry where it fails. */
export async function load(place, work, { rows = 4 } = {}) {
  place.setAttribute("aria-busy", "true");
  fill(place, skeleton(rows));
  try {
    const content = await work();
    if (content !== undefined) fill(place, content);
  } catch (error) {
    if (error.name === "AbortError") return;
    fill(place, failed(error, () => load(place, work, { rows })));
  } finally {
    place.removeAttribute("aria-busy");
  }
}

/** A button that does something once at a time and says how it went. */
export function actionButton(label, work, { kind = "", place = null } = {}) {
  const button = el(`button${kind ? `.${kind}` : ""}`, { type: "button" }, label);
  button.addEventListener("click", async () => {
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    const note = place || noteBeside(button);
    fill(note);
    try {
      await work();
    } catch (error) {
      fill(note, failed(error));
    } finally {
      button.removeAttribute("aria-disabled");
    }
  });
  return button;
}

function noteBeside(button) {
  const actions = button.closest(".actions") || button.parentElement;
  const beside = actions.nextElementSibling;
  if (beside?.classList.contains("note")) return beside;
  const note = el("div.note");
  actions.after(note);
  return note;
}

/** A button that copies a text. */
export function copyButton(text, label = "Copy", kind = "plain") {
  if (!navigator.clipboard) return null; // pages that did not come by https or from this machine have none
  const button = el(`button.${kind}`, { type: "button" }, label);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    announce("Copied");
    setTimeout(() => (button.textContent = label), 1500);
  });
  return button;
}

/** An id, short, with its whole as tooltip. */
export function shortId(id) {
  return el("code.id", { title: id }, id.length > 14 ? `${id.slice(0, 12)}…` : id);
}

/** A status as a word with a sign: filled holds, hollow does not hold any more, crossed is gone. */
export function status(name) {
  const sign = { active: "full", succeeded: "full", ok: "full", ready: "full", resolved: "full" }[name]
    || { deleted: "gone", failed: "gone", poisoned: "gone", unavailable: "gone", withdrawn: "gone", error: "gone" }[name]
    || { pending: "half", running: "half", accepted: "half", degraded: "half", compressed: "half" }[name]
    || "hollow";
  return el("span.status", { "data-sign": sign }, el("i", { "aria-hidden": "true" }), name);
}

/** What is told about a memory beside its words. */
export function about(memory, ...more) {
  return el(
    "p.about",
    el("span.kind", kindOf(memory)),
    memory.status ? status(memory.status) : null,
    memory.event_timestamp ? time(memory.event_timestamp) : null,
    memory.session_id ? sessionLink(memory.session_id) : null,
    hasNotBegun(memory) ? el("span", "from ", time(memory.valid_from, { isDay: true })) : null,
    more,
  );
}

/** Whether a memory says what only begins to be true; a whole conversation is no such truth. */
export const hasNotBegun = (memory, moment = Date.now()) => memory.type !== "episodic" && !["cell", "note"].includes(memory.category) && Date.parse(memory.valid_from) > moment;

/** Of a truth whose time is over without a successor, the event names none. */
const lostItsSuccessor = (event) => event.event_type === "superseded" && event.after.next_id === null;

/** What is forgotten for good beside a memory, a sentence each: what it replaced, and what replaced it. */
export async function forgottenBeside(memory, user, signal) {
  const events = async (query) => (await get("/api/v1/timeline", { user_id: user, limit: 20, ...query }, { signal })).events;
  const sentences = [];
  if (!memory.supersedes_id && memory.correlation_id) {
    const made = await events({ since: memory.created_at });
    const isOfIt = (event) => event.event_type === "superseded" && event.redacted && event.correlation_id === memory.correlation_id;
    if (made.some(isOfIt)) sentences.push("What it replaced was forgotten for good.");
  }
  if (memory.status === "superseded" && !memory.next_id && (await events({ memory_id: memory.id })).some(lostItsSuccessor)) {
    sentences.push("What replaced it was forgotten for good.");
  }
  return sentences;
}

/** The words of a memory, as they were saved. */
export const wordsOf = (memory) => (memory.content || memory.value_text || (memory.value === undefined || memory.value === null ? "" : valueText(memory.value))).trim() || "(no text)";

/** The same in brief: of a note its summary. */
export const briefOf = briefText;
export { kindOf };

/** What a slot holds, which may be any JSON, as a text: an object would be taken for the properties of an element. */
export const valueText = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** A memory as a linked line. */
export function memoryCard(memory, ...more) {
  return el("article.card", el("p.words", el("a", { href: link("memory", memory.id) }, briefOf(memory))), about(memory, ...more));
}

/** A labelled bar of a number from 0 to 1. marks: [{at, label}] are thresholds on it. */
export function bar(label, value, { isMain = false, marks = [] } = {}) {
  const has = value !== null && value !== undefined;
  const width = has ? Math.max(0, Math.min(1, value)) * 100 : 0;
  return el(
    `div.meter${isMain ? ".main" : ""}${has ? "" : ".none"}`,
    el("span.label", label),
    el(
      "span.track",
      { "aria-hidden": "true" },
      el("i", { style: { width: `${width}%` } }),
      marks.map((mark) => el("b", { style: { left: `${mark.at * 100}%` }, title: `${mark.label} ${figure(mark.at)}` })),
    ),
    el("span.number", has ? figure(value) : "not used"),
  );
}

/** Names and values beside each other; empty values are left out. */
export function facts(rows) {
  const given = rows.filter(([, value]) => value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && !value.length));
  return el("dl.facts", given.map(([name, value]) => el("div", el("dt", name), el("dd", Array.isArray(value) ? value.join(", ") : value))));
}

/** A list of pages with a button for the next one. row: makes an element of an item. */
export async function pagedList(place, pages, row, { none, tag = "ul.list", item = "li" } = {}) {
  const list = el(tag);
  const foot = el("div.more");
  const more = async () => {
    fill(foot, skeleton(list.childElementCount ? 1 : 4));
    delete list.dataset.state;
    try {
      const items = await pages.next();
      list.append(...items.map((entry) => el(item, row(entry))));
      fill(foot, pages.isDone ? null : el("button", { type: "button", onclick: more }, "Show more"));
      if (pages.isDone && !list.childElementCount) fill(place, none || empty("Nothing here yet"));
    } catch (error) {
      if (error.name !== "AbortError") fill(foot, failed(error, more));
      list.dataset.state = "failed";
    }
  };
  fill(place, list, foot);
  await more();
  return list;
}

/** A labelled field. */
export function field(label, control, hint) {
  const id = control.id || `field-${(fieldCount += 1)}`;
  control.id = id;
  return el("div.field", el("label", { for: id }, label), control, hint ? el("p.hint", hint) : null);
}
let fieldCount = 0;

/** A choice of one out of several. options: [[value, label]] */
export function choice(name, options, chosen, onchange) {
  return el(
    "select",
    { name, onchange: onchange && ((event) => onchange(event.target.value)) },
    options.map(([value, label]) => el("option", { value, selected: value === chosen }, label)),
  );
}

/** Tabs that are links. entries: [[href, label, isCurrent]] */
export function tabs(label, entries) {
  return el(
    "nav.tabs",
    { "aria-label": label },
    entries.map(([href, text, isCurrent]) => el("a", { href, "aria-current": isCurrent ? "page" : null }, text)),
  );
}

/** The value of a datetime-local field as ISO in UTC, "" of an empty one. */
export const fromLocal = (value) => (value ? new Date(value).toISOString() : "");

/** ISO as the value of a datetime-local field. */
export function toLocal(moment) {
  if (!moment) return "";
  const date = new Date(moment);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}
