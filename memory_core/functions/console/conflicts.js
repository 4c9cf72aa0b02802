// Conflicts: two memories that can't both be true, what was decided, and how to decide otherwise.

import { Pages, post } from "./api.js";
import { announce, el, fill } from "./dom.js";
import { about, actionButton, empty, failed, figure, head, pagedList, status, tabs, time, wordsOf } from "./parts.js";
import { link } from "./route.js";

const DECISIONS = [
  ["supersede", "New replaces old", "The new one holds. The old one stays as what was true before."],
  ["keep_both", "Keep both", "Both hold and can be found."],
  ["reject_new", "Keep the old", "The old one holds. The new one is deleted, as never true."],
  ["merge", "Merge", "One memory with both texts takes their place."],
];
const DONE = { supersede: "the new one replaced the old one", keep_both: "both are kept", reject_new: "the new one was rejected", merge: "they were merged" };

export async function render(place, { query, user, signal }) {
  const shown = query.get("status") ?? "pending";
  const list = el("section", { "aria-label": "Conflicts" });
  const entries = [["pending", "To decide"], ["resolved", "Decided"], ["all", "All"]].map(([name, label]) => [link("conflicts", "", { status: name }), label, name === shown]);
  fill(place, head("Conflicts", "Memories of which only one can be true. What is certain is decided at once; the rest waits for a person."), tabs("Which conflicts", entries), list);
  const pages = new Pages("/api/v1/conflicts", "conflicts", { user_id: user, limit: 20, status: shown === "all" ? "" : shown });
  const none = shown === "pending" ? empty("Nothing to decide", "No two memories of this user contradict each other without a decision.") : empty("No conflict here");
  await pagedList(list, pages, (record) => conflictCard(record, user, signal), { none });
}

/** A conflict with both memories and the decisions that can be made. */
export function conflictCard(record, user, signal) {
  const card = el("article.card", { "data-id": record.id });
  const note = el("div.note");
  const pair = el("div.pair");
  showPair(pair, record, user, signal);

  function show(now) {
    fill(
      card,
      el("p.about", status(now.status), time(now.at), el("span", `by ${now.by}`), el("span", `similarity ${figure(now.similarity)}`), el("span", `confidence ${figure(now.confidence)}`)),
      pair,
      el("p", el("span.small", "Why: "), now.reason, now.status === "resolved" ? el("span.small", ` · ${DONE[now.strategy] || now.strategy}`) : null),
      now.rejected_content ? el("p.small", "Rejected: ", now.rejected_content) : null,
      now.previous ? el("p.small", `Before: ${now.previous.strategy.replace("_", " ")}, by ${now.previous.by}`) : null,
      now.status === "pending" ? el("ul.decisions", decisions(now)) : el("div.actions", actionButton("Undo the decision", () => change(now, "undo", {}), { place: note })),
      note,
    );
  }
  async function change(now, verb, fields) {
    const changed = await post(`/api/v1/conflicts/${encodeURIComponent(now.id)}/${verb}`, { user_id: user, ...fields });
    announce(verb === "undo" ? "The decision was taken back" : `Decided: ${DONE[changed.strategy] || changed.strategy}`);
    show(changed);
    card.querySelector(".actions button, .decisions button").focus();
    await showPair(pair, changed, user, signal);
  }
  const decisions = (now) => DECISIONS.map(([decision, label, effect]) => {
    const button = actionButton(label, () => change(now, "resolve", { decision }), { place: note });
    button.dataset.decision = decision;
    button.setAttribute("aria-describedby", `${record.id}-${decision}`);
    return el("li", button, el("p.small", { id: `${record.id}-${decision}` }, effect));
  });

  show(record);
  return card;
}

async function showPair(place, record, user, signal) {
  const half = (label, memory) => el("div.side-of", el("p.label", label), memory ? [el("p.words", el("a", { href: link("memory", memory.id) }, wordsOf(memory))), about(memory)] : el("p.small", "It is not there any more."));
  const ids = [record.old_id, record.new_id].filter(Boolean);
  if (!place.childElementCount) fill(place, half("Old", { id: record.old_id, content: "…" }), half("New", { id: record.new_id, content: "…" }));
  try {
    const { memories } = ids.length ? await post("/api/v1/memories/get", { user_id: user, ids }, { signal }) : { memories: [] };
    const memory = (id) => memories.find((entry) => entry.id === id);
    fill(place, half("Old", memory(record.old_id)), half("New", memory(record.new_id)));
  } catch (error) {
    if (error.name !== "AbortError") fill(place, failed(error, () => showPair(place, record, user, signal)));
  }
}
