// The audit log: who changed keys, users and memories as a whole. It names ids, never contents.

import { Pages } from "./api.js";
import { el, fill } from "./dom.js";
import { copyButton, empty, field, fromLocal, head, pagedList, time, toLocal } from "./parts.js";
import { go, link } from "./route.js";

export async function render(place, { query }) {
  const asked = { since: query.get("since") || "", until: query.get("until") || "", action: query.get("action") || "" };
  const pick = (name, convert = (value) => value.trim()) => (event) => go(link("audit", "", { ...asked, [name]: convert(event.target.value) }));
  const moment = (name) => el("input", { type: "datetime-local", value: toLocal(asked[name]), onchange: pick(name, fromLocal) });
  const filters = el(
    "div.fields",
    field("Since", moment("since")),
    field("Until", moment("until")),
    field("Action", el("input", { value: asked.action, placeholder: "any", autocomplete: "off", list: "actions", onchange: pick("action") })),
    el("datalist", { id: "actions" }, ["key_made", "key_rotated", "key_withdrawn", "user_erased", "user_exported", "memories_forgotten"].map((value) => el("option", { value }))),
  );
  const list = el("section", { "aria-label": "Entries" });
  fill(place, head("Audit", "What was done to keys and to users' data, and by which key. It takes the right “admin”."), filters, list);
  await pagedList(list, new Pages("/api/v1/audit", "entries", { ...asked, limit: 50 }), entry, { tag: "ol.events", none: empty("No entry", "Nothing of this kind was done in this time.") });
}

/** What an entry is about: ids, each with its name. */
function targets(target) {
  if (typeof target === "string") return el("span", "on ", el("code", target));
  return Object.entries(target).map(([name, value]) => el("span", `${name.replaceAll("_", " ")} `, el("code", typeof value === "string" ? value : JSON.stringify(value))));
}

function entry(record) {
  return [
    el("p.about", el("b", record.action.replaceAll("_", " ")), time(record.at), el("span", record.outcome)),
    el("p.about", el("span", "by ", el("code", record.actor)), record.target ? targets(record.target) : null, record.correlation_id ? el("span", "correlation id ", el("code", record.correlation_id), copyButton(record.correlation_id)) : null),
  ];
}
