// What is ahead: what memories expect to hold for a while or to happen, and that has not ended.

import { Pages } from "./api.js";
import { el, fill } from "./dom.js";
import { about, empty, head, load, plural, time } from "./parts.js";
import { link } from "./route.js";

const MOST = 2000;
const FIELDS = "content,type,category,status,event_timestamp,session_id,foresight";

export async function render(place, { user, signal }) {
  const body = el("div.view");
  fill(place, head("Ahead", "What conversations say of the days to come, and what holds for a while. Once it has ended, it is left out."), body);
  await load(body, async () => {
    const pages = new Pages("/api/v1/memories", "memories", { user_id: user, limit: 100, fields: FIELDS });
    const memories = await pages.all(MOST, signal);
    const all = expectations(memories, new Date().toISOString());
    const partly = pages.isDone ? null : el("p.small", `Only the latest ${plural(memories.length, "memory", "memories")} were looked through.`);
    if (!all.length) return [empty("Nothing is ahead", "Appointments, plans and states with an end come of conversations: “I have a dentist appointment on Monday at 9”."), partly];
    return [section("Now", all.filter((entry) => !entry.isAhead)), section("To come", all.filter((entry) => entry.isAhead)), partly];
  });
}

function section(title, entries) {
  return entries.length ? el("section", el("h2", title), el("ul.list", entries.map((entry) => el("li", card(entry))))) : null;
}

function card({ part, memory }) {
  return el("article.card", el("p.words", el("a", { href: link("memory", memory.id) }, part.description)), el("p.strong", span(part)), about(memory));
}

/** What has not ended at a moment, the earliest first. What an episode and its fact both expect is of the fact alone. */
function expectations(memories, now) {
  const bySentence = new Map();
  for (const memory of memories) {
    for (const part of memory.foresight || []) {
      if (part.end_time && part.end_time <= now) continue;
      const sentence = `${part.description.replace(/\.$/, "")} ${part.start_time}`;
      if (!bySentence.has(sentence) || memory.category === "fact") bySentence.set(sentence, { part, memory, isAhead: part.start_time > now });
    }
  }
  return [...bySentence.values()].sort((first, second) => first.part.start_time.localeCompare(second.part.start_time));
}

/** From when until when something is expected: a day, a stretch of days, or from a day on. */
export function span(part) {
  const isDay = { isDay: true };
  if (!part.end_time) return el("span", "from ", time(part.start_time, isDay), " on");
  const days = (Date.parse(part.end_time) - Date.parse(part.start_time)) / 86400000;
  const isWhole = part.start_time.includes("T00:00");
  if (days <= 1) return el("span", "on ", time(part.start_time, { isDay: isWhole }));
  return el("span", time(part.start_time, isDay), " to ", time(part.end_time, isDay));
}
