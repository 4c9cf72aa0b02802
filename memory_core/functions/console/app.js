// The frame: asks for a key where one is needed, knows the user, and shows the view that the address names.

import { Problem, get, key } from "./api.js";
import { announce, el, fill } from "./dom.js";
import { empty, failed, field, head, skeleton } from "./parts.js";
import { current, go, link, user } from "./route.js";

const VIEWS = {
  search: ["./search.js", "Search"],
  memories: ["./memories.js", "Memories in time"],
  memory: ["./memory.js", "Memory"],
  sessions: ["./sessions.js", "Conversations"],
  session: ["./sessions.js", "Conversation"],
  scenes: ["./scenes.js", "Scenes"],
  profile: ["./profile.js", "Profile"],
  ahead: ["./ahead.js", "Ahead"],
  conflicts: ["./conflicts.js", "Conflicts"],
  tasks: ["./tasks.js", "Tasks and runs"],
  task: ["./tasks.js", "Task"],
  keys: ["./keys.js", "Keys"],
  audit: ["./audit.js", "Audit"],
  health: ["./health.js", "Health"],
};
const WITHOUT_USER = new Set(["keys", "audit", "health"]);
const PARENTS = { memory: "memories", session: "sessions", task: "tasks" };
const main = document.getElementById("main");
const byId = (id) => document.getElementById(id);
let leave = new AbortController();
const knownUsers = new Set();
let isAdmitted = false;

async function start() {
  showTheme();
  connectFrame();
  await enter();
}

/** Look whether the service answers this caller; ask for a key where it doesn't. */
async function enter() {
  try {
    const state = await get("/health/ready", {}, { accept: [503] });
    if (state.dependencies) admit();
    else askForKey(key.get() ? "This key is not known to the service." : "");
  } catch (error) {
    fill(main, failed(error, enter));
  }
}

function admit() {
  isAdmitted = true;
  for (const id of ["user-form", "nav", "menu"]) byId(id).hidden = false;
  const app = /^mc_(.+)_([^_]+)_[^_]+$/.exec(key.get());
  byId("who").textContent = app ? `App ${app[1]}, key ${app[2]}` : "No key is asked for on this address.";
  byId("sign-out").hidden = !key.get();
  show();
  suggestUsers();
}

function askForKey(complaint) {
  isAdmitted = false;
  key.forget();
  for (const id of ["user-form", "nav", "menu"]) byId(id).hidden = true;
  const input = el("input", { type: "password", autocomplete: "off", spellcheck: "false", required: true, placeholder: "mc_app_id_secret", "aria-describedby": "key-note" });
  const submit = async (event) => {
    event.preventDefault();
    key.set(input.value.trim());
    fill(main, skeleton());
    await enter();
  };
  const form = el(
    "form.door",
    { onsubmit: submit },
    el("h1", { tabindex: "-1" }, "Memory Core console"),
    el("p.lead", "Enter an API key to look into the memories of its app."),
    field("API key", input),
    complaint ? el("p.complaint", { role: "alert" }, complaint) : null,
    el("button.strong", "Open the console"),
    el("p.hint", { id: "key-note" }, "The key stays in this tab and is forgotten when the tab is closed. It is sent to this service alone."),
  );
  fill(main, form);
  input.focus();
}

async function show() {
  if (!isAdmitted) return;
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  const opened = location.hash;
  delete main.dataset.opened;
  const { view, id, query } = current();
  const [path, name] = VIEWS[view] || [];
  closeMenu();
  markCurrent(PARENTS[view] || view);
  if (user()) sessionStorage.setItem("memory-core.user", user());
  byId("user").value = user();
  if (!path) return void fill(main, el("div.view", head("No such page"), empty("The console has no page of this address.")));
  document.title = `${id || name} · Memory Core console`;
  if (!user() && !WITHOUT_USER.has(view)) return void chooseUser(name);
  fill(main, skeleton());
  const module = await fetched(path);
  if (signal.aborted || !module) return;
  const content = el("div.view");
  const warning = el("div", { role: "status" });
  fill(main, warning, content);
  if (!WITHOUT_USER.has(view)) warnOfUnknownUser(warning, user(), signal);
  window.scrollTo(0, 0);
  await module.render(content, { view, id, query, user: user(), signal });
  if (signal.aborted) return;
  main.dataset.opened = opened;
  if (content.isConnected && (document.activeElement === document.body || main.contains(document.activeElement))) {
    content.querySelector("[data-focus], h1")?.focus({ preventScroll: true });
  }
  announce(`${name} is shown`);
}

/** The module of a view; null, with a way to begin anew, where it can't be fetched. A browser may not ask again for a module that failed. */
async function fetched(path) {
  try {
    return await import(path);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    fill(main, failed(new Problem(0, { title: "No answer", detail: "This part of the console can't be fetched. The service may be starting, or the network is down." }), () => location.reload()));
    return null;
  }
}

/** Of a user of whom nothing is kept, say so: a mistyped id looks like an empty user otherwise. */
async function warnOfUnknownUser(place, name, signal) {
  if (knownUsers.has(name)) return;
  try {
    const page = await get("/api/v1/timeline", { user_id: name, limit: 1 }, { signal });
    if (page.events.length) return void knownUsers.add(name);
    fill(place, el("div.empty.unknown", el("p.strong", `The user ${name} is not known here`), el("p", "Nothing has been saved under this id with this key's app. Is it written as your app sends it?")));
  } catch (error) {
    if (!(error instanceof Problem) && error.name !== "AbortError") throw error;
  }
}

async function chooseUser(name) {
  const names = el("div");
  fill(
    main,
    el(
      "div.view",
      head(name),
      empty("Whose memories?", "Enter the id of a user in the field “User”, as your app sends it in user_id. The command line saves for ", el("a", { href: addressOf("me") }, "me"), " unless it is told otherwise."),
      names,
    ),
  );
  main.dataset.opened = location.hash;
  byId("user").focus();
  const known = await usersWithAgents();
  if (known.length) fill(names, el("section", el("h2", "Users with agents"), el("ul.users", known.map((name) => el("li", el("a", { href: addressOf(name) }, name))))));
}

/** Ids of users that have agents, which an admin's key may list; none for any other key. */
async function usersWithAgents() {
  try {
    const page = await get("/api/v1/agents", { limit: 100 }, { accept: [403] });
    return [...new Set((page.agents || []).map((agent) => agent.user_id))].sort();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [];
  }
}

async function suggestUsers() {
  fill(byId("users"), (await usersWithAgents()).map((value) => el("option", { value })));
}

/** The address of the view that is open, for another user. */
const addressOf = (name) => `#/${current().view}?${new URLSearchParams({ user: name })}`;

function connectFrame() {
  window.addEventListener("hashchange", show);
  document.addEventListener("key-refused", () => isAdmitted && askForKey("The service does not take this key any more."));
  byId("user-form").addEventListener("submit", (event) => {
    event.preventDefault();
    changeUser(byId("user").value.trim());
  });
  byId("user").addEventListener("change", (event) => changeUser(event.target.value.trim()));
  byId("menu").addEventListener("click", () => (byId("menu").getAttribute("aria-expanded") === "true" ? closeMenu() : openMenu()));
  byId("sign-out").addEventListener("click", () => askForKey(""));
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || byId("menu").getAttribute("aria-expanded") !== "true") return;
    closeMenu();
    byId("menu").focus();
  });
  for (const button of document.querySelectorAll("[data-theme]")) button.addEventListener("click", () => chooseTheme(button.dataset.theme));
}

function changeUser(name) {
  if (!name || name === user()) return;
  const { view, query: asked } = current();
  sessionStorage.setItem("memory-core.user", name);
  const query = new URLSearchParams({ user: name, ...(asked.get("q") ? { q: asked.get("q") } : {}) });
  go(`#/${PARENTS[view] || view}?${query}`);
}

function openMenu() {
  byId("menu").setAttribute("aria-expanded", "true");
  byId("nav").classList.add("open");
}

function closeMenu() {
  byId("menu").setAttribute("aria-expanded", "false");
  byId("nav").classList.remove("open");
}

function markCurrent(view) {
  for (const anchor of document.querySelectorAll(".side nav a")) {
    const name = anchor.getAttribute("href").replace(/^#\//, "").split("?")[0];
    anchor.href = link(name);
    if (name === view) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
}

function chooseTheme(name) {
  if (name === "auto") localStorage.removeItem("memory-core.theme");
  else localStorage.setItem("memory-core.theme", name);
  showTheme();
}

function showTheme() {
  const name = localStorage.getItem("memory-core.theme") || "auto";
  document.documentElement.dataset.colours = name;
  for (const button of document.querySelectorAll("[data-theme]")) button.setAttribute("aria-pressed", String(button.dataset.theme === name));
}

start();
