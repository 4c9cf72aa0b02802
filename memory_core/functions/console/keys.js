// API keys of the app: list them, make one, replace one, withdraw one. A secret is shown once, and kept nowhere.

import { Pages, call, post } from "./api.js";
import { announce, el, fill } from "./dom.js";
import { actionButton, copyButton, empty, field, fromLocal, head, pagedList, status, time } from "./parts.js";

const RIGHTS = [["read", "read", true], ["write", "write", true], ["admin", "admin", false]];

export async function render(place) {
  const made = el("div", { "aria-live": "polite" });
  const list = el("section", { "aria-label": "Keys" });
  const refresh = () => pagedList(list, new Pages("/api/v1/keys", "keys", { limit: 50 }), (entry) => card(entry, made, refresh), { none: empty("No key was made here", "Keys that are set in MEMORY_API_KEYS are not listed.") });
  const making = form(made, refresh);
  fill(place, head("Keys", "Who may call this service for this app. It takes a key with the right “admin”."), made, making, list);
  making.hidden = true;
  const rows = await refresh();
  making.hidden = rows.dataset.state === "failed";
}

function form(made, refresh) {
  const name = el("input", { name: "name", autocomplete: "off", maxlength: 100, placeholder: "what it is for" });
  const user = el("input", { name: "user", autocomplete: "off", placeholder: "any" });
  const expiry = el("input", { name: "expires", type: "datetime-local" });
  const rights = RIGHTS.map(([value, label, isChecked]) => el("label.check", el("input", { type: "checkbox", name: "rights", value, checked: isChecked }), label));
  const note = el("div.note");
  const make = actionButton("Make the key", async () => {
    const chosen = [...panel.querySelectorAll("[name=rights]:checked")].map((box) => box.value);
    const body = { rights: chosen, ...(name.value.trim() ? { name: name.value.trim() } : {}), ...(user.value.trim() ? { user_id: user.value.trim() } : {}), ...(expiry.value ? { expires_at: fromLocal(expiry.value) } : {}) };
    secret(made, await post("/api/v1/keys", body));
    for (const input of [name, user, expiry]) input.value = "";
    await refresh();
  }, { kind: "strong", place: note });
  const panel = el(
    "details",
    el("summary", "Make a key"),
    el(
      "div.panel",
      el("div.fields", field("Name", name), field("Only for the user", user), field("Expires", expiry), el("div.field", { role: "group", "aria-label": "Rights" }, el("span.legend", "Rights"), el("div.row", rights))),
      el("div.actions", make),
      note,
    ),
  );
  return panel;
}

function secret(place, entry) {
  announce("The key is made; it is shown once");
  fill(
    place,
    el(
      "div.secret",
      el("h2", entry.replaces ? "The new key" : "The key is made"),
      el("p", "Copy it now: it is shown this once, and only its hash is kept."),
      el("code", entry.key),
      el("div.actions", copyButton(entry.key, "Copy the key", "strong"), el("button.plain", { type: "button", onclick: () => fill(place) }, "I have it")),
    ),
  );
  place.querySelector("button")?.focus();
}

function card(entry, made, refresh) {
  const path = `/api/v1/keys/${encodeURIComponent(entry.key_id)}`;
  const note = el("div.note");
  const rotate = actionButton("Replace", async () => {
    secret(made, await post(`${path}/rotate`, { overlap_seconds: 3600 }));
    await refresh();
  }, { place: note });
  const withdraw = sure("Withdraw", "Withdraw it now?", async () => {
    await call("DELETE", path);
    await refresh();
    announce("The key is withdrawn");
    document.querySelector("h1").focus();
  }, note);
  return el(
    "article.card.key",
    { "data-id": entry.key_id },
    el("h2", entry.name || "Without a name"),
    el("p.about", status(entry.status), el("code", entry.key_id), el("span", entry.rights.join(", ")), entry.user_id ? el("span", `only ${entry.user_id}`) : null),
    el("p.about", el("span", "made ", time(entry.created_at)), entry.expires_at ? el("span", "expires ", time(entry.expires_at)) : null, el("span", entry.last_used_at ? ["last used ", time(entry.last_used_at)] : "not used yet")),
    entry.status === "active" ? el("div.actions", rotate, withdraw) : null,
    note,
  );
}

/** A button that asks once more, in its own place, before it does what can't be taken back. */
function sure(label, question, work, note) {
  const place = el("span.actions");
  const ask = () => {
    const cancel = el("button.plain", { type: "button", onclick: rest }, "No");
    fill(place, el("span", question), actionButton("Yes, withdraw", work, { kind: "bad", place: note }), cancel);
    cancel.focus();
  };
  const rest = () => fill(place, el("button", { type: "button", onclick: ask }, label));
  rest();
  return place;
}
