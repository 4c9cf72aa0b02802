// Ids as people read them: a memory by its first words, a conversation by the first words that were told in it.
// The short id stands until the words are known, and where they can't be fetched.

import { Problem, get, post } from "./api.js";
import { el } from "./dom.js";
import { link, user } from "./route.js";

const MOST = 70;
const BATCH = 100;
const LONG = 28;
const KINDS = { cell: "episode", note: "note", fact: "fact", message: "message" };
const FORGOTTEN = "a memory that was forgotten for good";
const waiting = new Map();
const beginnings = new Map();

/** A text in a line of at most so many characters, cut between words where that is possible. */
export function shortened(text, most = MOST) {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= most) return line;
  const end = line.lastIndexOf(" ", most - 1);
  return `${line.slice(0, end > most / 2 ? end : most - 1)}…`;
}

/** An id without its middle and end. */
export const shortenedId = (id) => (id.length > LONG ? `${id.slice(0, 16)}…` : id);

/** A memory in brief: of a note its summary, without headings and lists of words. */
export function briefText(memory) {
  const value = memory.value === undefined || memory.value === null ? "" : typeof memory.value === "string" ? memory.value : JSON.stringify(memory.value);
  const text = (memory.content || memory.value_text || value).trim() || "(no text)";
  return memory.category === "note" ? text.replace(/^## \w+\n/, "").split(/\n(?:##|---)/)[0].trim() : text;
}

/** What sort of memory this is, in a word. */
export function kindOf(memory) {
  if (memory.category && KINDS[memory.category]) return KINDS[memory.category];
  return memory.type === "procedural" ? "procedure" : memory.type === "semantic" ? "fact" : "episode";
}

/** A link to a memory that shows its first words; its whole id is the tooltip. */
export function memoryLink(id, onknown = () => {}) {
  const anchor = el("a", { href: link("memory", id), title: id }, `${id.slice(0, 12)}…`);
  if (!waiting.size) setTimeout(fetchWaiting, 0);
  const name = (memory) => {
    if (!memory) return anchor.replaceWith(FORGOTTEN);
    anchor.textContent = shortened(briefText(memory));
    onknown(memory);
  };
  waiting.set(id, [...(waiting.get(id) || []), name]);
  return anchor;
}

/** Links to memories, one under the other, with the kind of each. */
export const memoryLinks = (ids) => el("ul.links", ids.map(linkLine));

function linkLine(id) {
  const kind = el("span.about");
  return el("li", memoryLink(id, (memory) => (kind.textContent = kindOf(memory))), " ", kind);
}

async function fetchWaiting() {
  const asked = new Map(waiting);
  waiting.clear();
  const ids = [...asked.keys()];
  for (let first = 0; first < ids.length; first += BATCH) {
    const answer = await quietly(() => post("/api/v1/memories/get", { user_id: user(), ids: ids.slice(first, first + BATCH) }));
    for (const memory of answer?.memories || []) for (const name of asked.get(memory.id) || []) name(memory);
    for (const id of answer?.missing || []) for (const name of asked.get(id) || []) name(null);
  }
}

/** What a conversation began with, and its title: {name, title, at, hasMessages}; null where nothing is known of it. */
export function beginningOf(session) {
  const place = JSON.stringify([user(), session]);
  if (!beginnings.has(place)) beginnings.set(place, fetchBeginning(session));
  return beginnings.get(place);
}

async function fetchBeginning(session) {
  const asked = { user_id: user(), session_id: session, order: "asc", limit: 1, status: "all", fields: "content,value,value_text,category,event_timestamp" };
  const [told, known] = await Promise.all([
    quietly(() => get("/api/v1/memories", { ...asked, category: "message" })),
    quietly(() => get(`/api/v1/sessions/${encodeURIComponent(session)}`, { user_id: user() })),
  ]);
  const first = told?.memories[0] || (await quietly(() => get("/api/v1/memories", asked)))?.memories[0];
  if (!first) return null;
  return { name: shortened(briefText(first)), title: known?.title || null, at: first.event_timestamp, hasMessages: Boolean(told?.memories.length) };
}

/** A link to a conversation. A long id, such as an imported one, gives way to what the conversation began with. */
export function sessionLink(session) {
  const anchor = el("a", { href: link("session", session), title: session }, shortenedId(session));
  if (session.length > LONG) beginningOf(session).then((beginning) => beginning && (anchor.textContent = shortened(beginning.title || beginning.name, 48)));
  return anchor;
}

/** What a call answers, or null where it fails: a name is no reason for an error in a view. */
async function quietly(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}
