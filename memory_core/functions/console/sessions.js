// Conversations: the sessions of a user, and one of them as it was told, with what came of each turn.

import { Pages } from "./api.js";
import { el, fill } from "./dom.js";
import { copyButton, empty, failed, head, load, pagedList, plural, shortId, skeleton, status, time, briefOf, kindOf } from "./parts.js";
import { span } from "./ahead.js";
import { beginningOf, shortened, shortenedId } from "./names.js";
import { link } from "./route.js";

const MOST = 1000;
const LABEL = 140;

export async function render(place, context) {
  await (context.view === "session" ? one(place, context) : all(place, context));
}

async function all(place, { user }) {
  const list = el("section", { "aria-label": "Sessions" });
  fill(place, head("Conversations", "The sessions of this user, those that were saved last first."), list);
  const none = empty("No session yet", "A session begins with the first message or memory that names it.");
  await pagedList(list, new Pages("/api/v1/sessions", "sessions", { user_id: user, limit: 50 }), sessionCard, { none });
}

function sessionCard(session) {
  const id = session.session_id;
  const counts = Object.entries(session.counts).map(([name, count]) => (name === "messages" ? plural(count, "message") : `${count} ${name}`));
  const anchor = el("a", { href: link("session", id), title: id }, session.title || shortenedId(id));
  const begun = el("span", "saved ", time(session.started_at));
  const card = el("article.card", el("p.words.strong", anchor), el("p.about", begun, el("span", counts.join(", ")), el("span", "last change ", time(session.last_active_at)), identifier(id)));
  whenSeen(card, async () => {
    const beginning = await beginningOf(id);
    if (!beginning) return;
    if (!session.title) anchor.textContent = beginning.name;
    fill(begun, beginning.hasMessages ? "first message " : "first memory ", time(beginning.at));
  });
  return card;
}

/** The id of a session, short, with the whole one as tooltip. */
const identifier = (id) => el("code.id", { title: id }, shortenedId(id));

/** Do something once an element comes into sight. */
function whenSeen(element, work) {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    work();
  }, { rootMargin: "200px" });
  observer.observe(element);
}

async function one(place, { id, user, signal }) {
  const talk = el("ol.talk");
  const aside = el("section", { "aria-label": "What came of the session as a whole" });
  const talkPlace = el("section", { "aria-label": "As it was told" }, talk);
  const top = head(shortenedId(id), "As it was told, and beside each turn what came of it.");
  const name = el("p.about", el("code.id", id), copyButton(id, "Copy the id"));
  top.firstElementChild.append(name);
  fill(place, top, talkPlace, aside);
  beginningOf(id).then((beginning) => {
    if (!beginning || signal.aborted) return;
    const title = beginning.title || beginning.name;
    fill(top.querySelector("h1"), title);
    document.title = `${title} · Memory Core console`;
    name.prepend(time(beginning.at));
  });
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

function attach(turn, made) {
  if (!made.length) return;
  turn.append(el("ul.outcome", { "aria-label": "What came of this turn" }, made.map(({ memory, statement }) => (statement ? statementLine(statement, memory) : memoryLine(memory)))));
}

function memoryLine(memory, ...more) {
  return el("li", el("p", el("a", { href: link("memory", memory.id) }, labelOf(memory))), el("p.about", el("span.kind", kindOf(memory)), status(memory.status), more), aheadOf(memory).map((part) => expected(part, memory)));
}

/** What was said and has no memory of its own: it is found by its episode. */
function statementLine(statement, episode) {
  return el("li.minor", el("p", shortened(statement.text, LABEL)), el("p.about", el("span", "Part of ", el("a", { href: link("memory", episode.id) }, "the episode"), " alone")));
}

function labelOf(memory) {
  if (memory.category === "cell") return memory.source_ids.length === 1 ? "The episode of this message" : `The episode of these ${plural(memory.source_ids.length, "message")}`;
  if (memory.category === "note") return "The note on the episode";
  return shortened(briefOf(memory), LABEL);
}

/** What a memory expects; of an episode, what none of its facts expects. */
const aheadOf = (memory) => (memory.category === "cell" ? memory.foresight.filter((part) => !memory.atomic_facts.some((fact) => fact.fact_id && bare(fact.text) === bare(part.description))) : memory.foresight);
const bare = (text) => text.replace(/\.$/, "");

function expected(part, memory) {
  const isSame = bare(part.description) === bare(briefOf(memory));
  return el("p.small.ahead", el("b", "Foresight: "), isSame ? null : `${bare(part.description)}, `, span(part));
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
    const add = (messageId, line) => this.byMessage.set(messageId, [...(this.byMessage.get(messageId) || []), line]);
    const put = (messageId, memory) => {
      if (!messageId || !memory || placed.has(memory.id)) return;
      placed.add(memory.id);
      add(messageId, { memory });
    };
    const cells = made.filter((memory) => memory.category === "cell");
    for (const cell of cells) {
      for (const fact of cell.atomic_facts) {
        const messageId = numbered.get(`${cell.conversation_id} ${fact.message}`) || cell.source_ids.at(-1);
        if (fact.fact_id) put(messageId, memories.get(fact.fact_id));
        else if (messageId) add(messageId, { memory: cell, statement: fact });
      }
    }
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
    return [el("h2", "Also of this session"), el("ul.outcome", this.rest.map((memory) => memoryLine(memory, shortId(memory.id))))];
  }
}
