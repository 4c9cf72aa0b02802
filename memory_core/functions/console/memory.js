// One memory: its fields, how it came about, what it replaced and what replaced it, what happened to it.

import { Pages, get, post } from "./api.js";
import { announce, el, fill, svg } from "./dom.js";
import { about, actionButton, facts, figure, forgottenBeside, hasNotBegun, head, kindOf, load, memoryCard, nothing, pagedList, plural, status, time, words, wordsOf } from "./parts.js";
import { span } from "./ahead.js";
import { memoryLink, memoryLinks, sessionLink } from "./names.js";
import { go, link } from "./route.js";
import { conflictCard } from "./conflicts.js";

const KNOWN = new Set("id app_id user_id content type category status status_reason version event_timestamp valid_from valid_until created_at updated_at session_id agent_id subject attribute key value value_text actor source confidence importance_base importance_basis worth pinned access_count last_accessed_at reinforcement_count tags entities keywords metadata source_ids cell_id conversation_id scene_id links atomic_facts foresight supersedes_id next_id conflict_ids conflict_state correlation_id embedding_model embedding_dimensions episode semantic_queries".split(" "));

const RESTORABLE = new Set(["deleted", "archived"]);
const MEMORY_ID = /^(mem|msg)_[0-9A-Za-z]+$/;
const CONFLICT_ID = /^cft_[0-9A-Za-z]+$/;
const MOMENT = /^\d{4}-\d\d-\d\dT/;
const BASES = { given: ", as it was given", type: ", by its type", secmsa: ", by its content", consolidation: ", by a run" };
const NAMES = { event_timestamp: "happened", conflict_ids: "conflicts", next_id: "replaced by", supersedes_id: "replaces", source_ids: "sources", consolidated_into_ids: "merged into", importance_base: "importance", status_reason: "reason", cell_id: "episode", prompt_id: "prompt" };

export async function render(place, { id, user, signal }) {
  const body = el("div.view");
  fill(place, head("Memory"), body);
  await load(body, async () => {
    const memory = await get(`/api/v1/memories/${encodeURIComponent(id)}`, { user_id: user }, { signal });
    document.title = `${wordsOf(memory).slice(0, 60)} · Memory Core console`;
    return sections(memory, user, signal);
  });
}

function sections(memory, user, signal) {
  const base = `/api/v1/memories/${encodeURIComponent(memory.id)}`;
  const own = { user_id: user };
  const evolution = section("Evolution", "What it replaced, and what replaced it: each bar is the time for which a memory holds.", async () => {
    const [chain, lost] = await Promise.all([get(`${base}/evolution`, { ...own, direction: "both" }, { signal }), forgottenBeside(memory, user, signal)]);
    return drawn(chain, memory, lost);
  });
  return [
    el("section.panel", el("p.words", { class: "words whole" }, wordsOf(memory)), about(memory, memory.pinned ? el("span", "pinned") : null), el("p.small", el("code", memory.id)), RESTORABLE.has(memory.status) ? el("div.actions", restoreButton(base, user)) : null),
    el("section", el("h2", "Fields"), fieldsOf(memory), rest(memory)),
    evolution,
    memory.source_ids.length ? section("Sources", "What it was made of.", async () => sources(memory, user, signal)) : null,
    memory.atomic_facts.length ? el("section", el("h2", "Facts that were found in it"), el("ul.list", memory.atomic_facts.map(atomicFact))) : null,
    memory.links.length ? el("section", el("h2", "Near memories"), el("ul.list", memory.links.map(nearLink))) : null,
    section("Conflicts", "", async () => conflictsOf(memory, user, signal)),
    section("Versions", "", async () => versions((await get(`${base}/versions`, own, { signal })).versions)),
    timeline(memory, user),
  ];
}

/** Brings the memory back into use and shows it anew. */
function restoreButton(base, user) {
  return actionButton("Restore it", async () => {
    await post(`${base}/restore`, { user_id: user });
    announce("It is restored");
    go(location.hash);
  });
}

function section(title, lead, work) {
  const place = el("div");
  load(place, work, { rows: 2 });
  return el("section", el("div", el("h2", title), lead ? el("p.lead", lead) : null), place);
}

function fieldsOf(memory) {
  const value = memory.value === null || memory.value === undefined ? null : valueOf(memory.value);
  return el(
    "div.panel",
    facts([
      ["Kind", `${kindOf(memory)} (${memory.type}${memory.category ? `, ${memory.category}` : ""})`],
      ["Status", el("span", status(memory.status), memory.status_reason ? ` · ${memory.status_reason.replaceAll("_", " ")}` : "")],
      ["Subject", memory.subject],
      ["Attribute", memory.attribute],
      ["Key", memory.key],
      ["Value", value],
      ["Happened", time(memory.event_timestamp)],
      ["True from", time(memory.valid_from)],
      ["True until", time(memory.valid_until)],
      ["Saved", time(memory.created_at)],
      ["Changed", memory.updated_at === memory.created_at ? null : time(memory.updated_at)],
      ["Version", String(memory.version)],
      ["Session", memory.session_id ? sessionLink(memory.session_id) : null],
      ["Agent", memory.agent_id],
      ["Said by", memory.actor],
      ["Source", memory.source],
      ["Confidence", figure(memory.confidence)],
      ["Importance", `${figure(memory.importance_base)}${BASES[memory.importance_basis] || ""}`],
      ["Kept longer for", memory.worth],
      ["Found", memory.access_count ? `${plural(memory.access_count, "time")}, last ${words(memory.last_accessed_at)}` : "never yet"],
      ["Told again", memory.reinforcement_count ? plural(memory.reinforcement_count, "time") : null],
      ["Scene", memory.scene_id ? el("a", { href: link("scenes", memory.scene_id), title: memory.scene_id }, "The scene of its episode") : null],
      ["Episode", memory.cell_id && memory.cell_id !== memory.id ? memoryLink(memory.cell_id) : null],
      ["Tags", memory.tags],
      ["Entities", memory.entities],
      ["Keywords", memory.keywords],
      ["Foresight", memory.foresight.length ? el("div", memory.foresight.map((part) => el("p", `${part.description.replace(/\.$/, "")}, `, span(part)))) : null],
      ["Replaces", memory.supersedes_id ? memoryLink(memory.supersedes_id) : null],
      ["Replaced by", memory.next_id ? memoryLink(memory.next_id) : null],
      ["Metadata", Object.keys(memory.metadata).length ? valueOf(memory.metadata) : null],
    ]),
  );
}

/** Fields that have no place of their own above, as they were answered. */
function rest(memory) {
  const given = Object.entries(memory).filter(([name, value]) => !KNOWN.has(name) && value !== null && value !== "" && !(Array.isArray(value) && !value.length));
  const embedding = [["Embedding", `${memory.embedding_model || "none"}, ${memory.embedding_dimensions || 0} numbers`], ["Correlation id", memory.correlation_id]];
  return el("details", el("summary", "More fields"), facts([...given.map(([name, value]) => [readable(name), valueOf(value)]), ...embedding]));
}

async function sources(memory, user, signal) {
  const answer = await post("/api/v1/memories/get", { user_id: user, ids: memory.source_ids.slice(0, 100) }, { signal });
  return [
    el("ul.list", answer.memories.map((source) => el("li", memoryCard(source)))),
    answer.missing.length ? el("p.small", `${plural(answer.missing.length, "source is", "sources are")} not there any more.`) : null,
  ];
}

function atomicFact(fact) {
  const text = fact.fact_id ? el("a", { href: link("memory", fact.fact_id) }, fact.text) : fact.text;
  const fallen = fact.superseded_by ? replacement(fact.superseded_by) : null;
  return el("li.quote", el("p", text), el("footer.about", fact.quote ? el("span", `“${fact.quote}”`) : null, fallen));
}

/** What took the place of a fact, or will from its day on. */
function replacement(id) {
  const when = el("span", "replaced by ");
  return el("span", when, memoryLink(id, (memory) => hasNotBegun(memory) && fill(when, "until ", time(memory.valid_from, { isDay: true }), ", then: ")));
}

function nearLink(edge) {
  return el("li.about", memoryLink(edge.memory_id), el("span", readable(edge.relationship_type)), el("span", `strength ${figure(edge.link_strength)}`), el("span", `similarity ${figure(edge.similarity_score)}`));
}

async function conflictsOf(memory, user, signal) {
  const records = await new Pages("/api/v1/conflicts", "conflicts", { user_id: user, limit: 100 }).all(300, signal);
  const own = records.filter((record) => record.old_id === memory.id || record.new_id === memory.id || memory.conflict_ids.includes(record.id));
  if (!own.length) return nothing("It stands in no conflict.");
  return el("ul.list", own.map((record) => el("li", conflictCard(record, user, signal))));
}

function versions(all) {
  if (all.length < 2) return nothing("It has one version: nothing in it was edited.");
  const item = (version) => el(
    "li",
    el("p.about", el("b", `Version ${version.version}`), time(version.changed_at), version.change_reason ? el("span", version.change_reason) : null),
    el("p.words", version.content || JSON.stringify(version.metadata_snapshot.value)),
    el("p.about", el("span", "true from ", time(version.valid_from)), version.valid_until ? el("span", "until ", time(version.valid_until)) : null),
  );
  return el("ol.events", [...all].reverse().map(item));
}

function timeline(memory, user) {
  const place = el("div");
  const pages = new Pages("/api/v1/timeline", "events", { user_id: user, memory_id: memory.id, limit: 50 });
  pagedList(place, pages, event, { tag: "ol.events", none: nothing("The log has no event of it.") });
  return el("section", el("div", el("h2", "Timeline"), el("p.lead", "Every change of it, the oldest first.")), place);
}

/** What an event changed, field by field. */
function event(entry) {
  const names = Object.keys(entry.after).filter((name) => !["updated_at", "app_id", "user_id", "id", "correlation_id"].includes(name));
  const changed = entry.event_type === "created" ? [] : names;
  return [
    el("p.about", el("b", readable(entry.event_type)), time(entry.occurred_at), el("span", `by ${entry.actor}`), el("span", `no. ${entry.sequence}`), entry.redacted ? el("span", "redacted") : null),
    changed.map((name) => el("p.change", el("span.kind", readable(name)), ": ", el("del", changeOf(entry.before[name])), " → ", el("ins", changeOf(entry.after[name])))),
  ];
}

/** The name of a field, or of a kind of link or event, as words. */
const readable = (name) => (NAMES[name] || name).replaceAll("_", " ");

/** A value as words: lists and pairs of plain values too; ids of memories as links; anything deeper as JSON. */
function valueOf(value) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return MEMORY_ID.test(value) ? memoryLink(value) : MOMENT.test(value) ? words(value) : value;
  if (Array.isArray(value) && value.length && value.every((part) => MEMORY_ID.test(part))) return memoryLinks(value);
  if (Array.isArray(value) && value.every(isPlain)) return value.map(String).join(", ");
  if (value !== null && typeof value === "object" && Object.values(value).every(isPlain)) return Object.entries(value).map(([name, part]) => `${name.replaceAll("_", " ")}: ${part}`).join(", ");
  return typeof value === "number" ? figure(value) : el("code", JSON.stringify(value));
}

const isPlain = (value) => ["string", "number", "boolean"].includes(typeof value);

/** A value before or after a change, in a line. */
function changeOf(value) {
  if (value === null || value === undefined || (Array.isArray(value) && !value.length)) return "none";
  if (Array.isArray(value) && value.every((part) => CONFLICT_ID.test(part))) return el("a", { href: link("conflicts", "", { status: "all" }) }, plural(value.length, "conflict"));
  if (typeof value === "string" && MEMORY_ID.test(value)) return memoryLink(value);
  if (Array.isArray(value) && value.every((part) => MEMORY_ID.test(part))) return value.map((id, index) => [index ? ", " : "", memoryLink(id)]);
  return brief(value);
}

function brief(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const moment = MOMENT.test(text) ? words(text) : text;
  return moment.length > 120 ? `${moment.slice(0, 117)}…` : moment;
}

/** The list of the evolution as a picture: one row a memory, a bar for the time it holds, a line to what replaced it. */
function drawn(evolution, asked, lost) {
  const memories = evolution.memories;
  const gone = lost.map((sentence) => el("p.small", sentence));
  if (memories.length < 2) return gone.length ? gone : nothing("Nothing replaced it, and it replaced nothing.");
  const place = el("div.drawing");
  const draw = () => fill(place, picture(memories, asked, Math.max(260, place.clientWidth - 34)));
  new ResizeObserver(draw).observe(place);
  return [place, ...gone, evolution.complete ? null : el("p.small", "There is more than this: the nearest 200 each way are shown.")];
}

function picture(memories, asked, width) {
  const tall = 52;
  const now = Date.now();
  const start = (memory) => Date.parse(memory.valid_from || memory.event_timestamp || memory.created_at);
  const end = (memory) => (memory.valid_until ? Date.parse(memory.valid_until) : now);
  const from = Math.min(...memories.map(start));
  const until = Math.max(now, ...memories.map(end));
  const x = (moment) => 6 + ((moment - from) / (until - from || 1)) * (width - 12);
  const row = new Map(memories.map((memory, index) => [memory.id, index]));
  const y = (index) => 8 + index * tall;
  const most = Math.floor(width / 7.4);
  const life = (memory, index) => {
    const text = wordsOf(memory).replaceAll("\n", " ");
    const left = x(start(memory));
    const label = text.length > most ? `${text.slice(0, most - 1)}…` : text;
    const isLate = left > width / 2;
    const classes = `${memory.next_id ? "" : "current"} ${memory.id === asked.id ? "asked" : ""} ${memory.status === "deleted" ? "gone" : ""}`;
    return svg(
      "a",
      { href: link("memory", memory.id), class: classes, "aria-label": `${text}, ${memory.status}, true from ${words(start(memory))}${memory.valid_until ? ` until ${words(memory.valid_until)}` : ""}` },
      svg("text", { x: isLate ? width - 4 : left, y: y(index) + 14, "text-anchor": isLate ? "end" : "start" }, label),
      svg("rect.life", { x: left, y: y(index) + 22, width: Math.max(6, x(end(memory)) - left), height: 8, rx: 4 }),
    );
  };
  const step = (memory, index) => {
    const next = row.get(memory.next_id);
    if (next === undefined) return null;
    const fromX = x(end(memory)) - 3;
    return svg("path.lead-line", { d: `M${fromX} ${y(index) + 30} V${y(next) + 22}` });
  };
  const height = y(memories.length) + 18;
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": `Evolution: ${plural(memories.length, "memory", "memories")}` },
    memories.map(step),
    memories.map(life),
    svg("text.soft", { x: 6, y: height - 4 }, words(from, { isDay: true })),
    svg("text.soft", { x: width - 4, y: height - 4, "text-anchor": "end" }, until > now ? words(until, { isDay: true }) : "now"),
  );
}
