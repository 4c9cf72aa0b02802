// The profile: what is known of a person, with what was true before.

import { get, Pages } from "./api.js";
import { el, fill } from "./dom.js";
import { empty, field, figure, fromLocal, head, load, time, toLocal, valueText, words } from "./parts.js";
import { memoryLink } from "./names.js";
import { go, link } from "./route.js";

const MOST_CONFLICTS = 300;

export async function render(place, { query, user, signal }) {
  const at = query.get("at") || "";
  const body = el("div.view");
  const moment = el("input", { type: "datetime-local", value: toLocal(at), onchange: (event) => go(link("profile", "", { at: fromLocal(event.target.value) })) });
  fill(place, head("Profile", at ? `What was true on ${words(at)}.` : "What is known of this person today, and what was true before.", field("True at", moment)), body);
  await load(body, async () => {
    const pending = new Pages("/api/v1/conflicts", "conflicts", { user_id: user, status: "pending", limit: 100 });
    const [profile, conflicts] = await Promise.all([get("/api/v1/profile", { user_id: user, at }, { signal }), pending.all(MOST_CONFLICTS, signal)]);
    return show(profile, conflicts);
  });
}

function show(profile, conflicts) {
  if (!profile.explicit.length && !profile.implicit.length) {
    return empty("Nothing is known yet", profile.expected_at ? `A run looks for it by ${words(profile.expected_at)}.` : "A profile comes of facts that fill a slot, and of what conversations tell again and again.");
  }
  return [
    profile.explicit.length ? el("section", el("h2", "Facts"), el("ul.panel.tight", profile.explicit.map((fact) => known(fact, conflicts)))) : null,
    profile.implicit.length ? el("section", el("h2", "Traits"), el("ul.list", profile.implicit.map(trait))) : null,
  ];
}

/** A fact, and what contradicts it without a decision. */
function known(fact, conflicts) {
  const other = (record) => (record.old_id === fact.memory_id ? record.new_id : record.new_id === fact.memory_id ? record.old_id : null);
  const others = fact.memory_id ? conflicts.map(other).filter(Boolean) : [];
  return el(
    "li.known",
    el("p.small", fact.name),
    el("p.value", fact.memory_id ? el("a", { href: link("memory", fact.memory_id) }, valueText(fact.value)) : valueText(fact.value)),
    el("p.small.since", "since ", time(fact.since, { isDay: true })),
    others.map((id) => el("p.small.disputed", el("a", { href: link("conflicts") }, "Disputed"), ": ", memoryLink(id))),
    fact.previous.length ? el("ul.previous", { "aria-label": "Before" }, fact.previous.map(previous)) : null,
  );
}

function previous(value) {
  const text = value.memory_id ? el("a", { href: link("memory", value.memory_id) }, valueText(value.value)) : valueText(value.value);
  return el("li", text, ", ", time(value.since, { isDay: true }), " to ", time(value.until, { isDay: true }));
}

function trait(entry) {
  const scenes = entry.source_scene_ids.map((id, index) => el("a", { href: link("scenes", id) }, `scene ${index + 1}`));
  return el("li.card", el("p", entry.trait), el("p.about", el("span", `confidence ${figure(entry.confidence)}`), scenes));
}
