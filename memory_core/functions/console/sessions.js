// Conversations: the sessions of a user, and one of them as it was told, with what came of each turn.

import { Pages } from "./api.js";
import { el, fill } from "./dom.js";
import { empty, failed, head, load, pagedList, plural, shortId, skeleton, status, time, briefOf, kindOf } from "./parts.js";
import { link } from "./route.js";

const MOST = 1000;

export async function render(place, context) {
  await (context.view === "session" ? one(place, context) : all(place, context));
}

async function all(place, { user }) {
  const list = el("section", { "aria-label": "Sessions" });
  fill(place, head("Conversations", "The sessions of this user, the latest begun first."), list);
  const none = empty("No session yet", "A session begins with the first message or memory that names it.");
  await pagedList(list, new Pages("/api/v1/sessions", "sessions", { user_id: user, limit: 50 }), sessionCard, { none });
}

function sessionCard(session) {
  const counts = Object.entries(session.counts).map(([name, count]) => (name === "messages" ? plural(count, "message") : `${count} ${name}`));
  return el("article.card", el("p.words.strong", el("a", { href: link("session", session.session_id) }, session.session_id)), el("p.about", el("span", counts.join(", ")), el("span", "begun ", time(session.started_at)), el("span", "last told ", time(session.last_active_at))));
}

async function one(place, { id, user, signal }) {
  const talk = el("ol.talk");
  const aside = el("section", { "aria-label": "What came of the session as a whole" });
  const talkPlace = el("section", { "aria-label": "As it was told" }, talk);
  fill(place, head(id, "As it was told, and beside each turn what came of it."), talkPlace, aside);
  const outcome = new Outcome(id, user);
  const foot = el("div.more");
  talkPlace.append(foot);
  const pages = new Pages(`/api/v1/sessions/${encodeURIComponent(id)}/messages`, "messages", { user_id: user, limit: 100 });
  const more = async () => {
    fill(foot, skeleton(3));
    try {
      const messages = await pages.next(signal);
      const turns = messages.map((message) => el("li.turn", { "data-role": message.role }, el("div.said", el("p.speaker", el("b", message.actor || message.role), time(message.timestamp)), el("p.words", message.content || "(no text)"))));
      talk.append(...turns);
      fill(foot, pages.isDone ? null : el("button", { type: "button", onclick: more }, "Show more"));
      if (!talk.childElementCount) fill(talkPlace, empty("Nothing was told in it", "Its memories were saved one by one."));
      await outcome.ready(signal);
      messages.forEach((message, index) => attach(turns[index], outcome.of(message.memory_id)));
    } catch (error) {
      if (error.name !== "AbortError") fill(foot, failed(error, more));
    }
  };
  await more();
  await load(aside, async () => (await outcome.ready(signal), outcome.others()));
}

function attach(turn, memories) {
  if (!memories.length) return;
  turn.append(el("ul.outcome", { "aria-label": "What came of this turn" }, memories.map((memory) => el("li", el("a", { href: link("memory", memory.id) }, shortened(memory)), el("p.about", el("span.kind", kindOf(memory)), status(memory.status))))));
}

function shortened(memory) {
  if (memory.category === "cell") return `The episode of these ${plural(memory.source_ids.length, "message")}`;
  if (memory.category === "note") return "The note on the episode";
  const text = briefOf(memory).split("\n")[0];
  return text.length > 140 ? `${text.slice(0, 137)}…` : text;
}

/** What was made of the messages of a session, by the message that it came of. */
class Outcome {
  constructor(session, user) {
    const common = { user_id: user, session_id: session, status: "all", limit: 100 };
    this.made = new Pages("/api/v1/memories", "memories", { ...common, view: "full" });
    this.told = new Pages("/api/v1/memories", "memories", { ...common, category: "message", fields: "metadata,conversation_id" });
    this.byMessage = new Map();
    this.rest = [];
  }

  ready(signal) {
    this.work ??= this.read(signal);
    return this.work;
  }

  async read(signal) {
    const [made, told] = await Promise.all([this.made.all(MOST, signal), this.told.all(MOST, signal)]);
    const numbered = new Map(told.map((message) => [`${message.conversation_id} ${message.metadata?.message}`, message.id]));
    const memories = new Map(made.map((memory) => [memory.id, memory]));
    const placed = new Set();
    const put = (messageId, memory) => {
      if (!messageId || !memory || placed.has(memory.id)) return;
      placed.add(memory.id);
      this.byMessage.set(messageId, [...(this.byMessage.get(messageId) || []), memory]);
    };
    const cells = made.filter((memory) => memory.category === "cell");
    for (const cell of cells) for (const fact of cell.atomic_facts) put(numbered.get(`${cell.conversation_id} ${fact.message}`), memories.get(fact.fact_id));
    for (const memory of made) if (memory.source_ids.some((id) => id.startsWith("msg_")) && memory.category !== "cell") put(memory.source_ids.find((id) => id.startsWith("msg_")), memory);
    for (const memory of made) {
      const cell = cells.find((entry) => entry.id === (memory.cell_id || memory.id));
      if (cell && (memory.id === cell.id || memory.category === "note")) put(cell.source_ids.at(-1), memory);
    }
    this.rest = made.filter((memory) => !placed.has(memory.id) && memory.category !== "message");
  }

  of(messageId) {
    return this.byMessage.get(messageId) || [];
  }

  /** What is of the session, and of no turn in particular. */
  others() {
    if (!this.rest.length) return [];
    return [el("h2", "Also of this session"), el("ul.list", this.rest.map((memory) => el("li.outcome", el("p", el("a", { href: link("memory", memory.id) }, shortened(memory))), el("p.about", el("span.kind", kindOf(memory)), status(memory.status), shortId(memory.id)))))];
  }
}
