// Background tasks and runs: where they are, what they did, and how to begin again or end them.

import { Pages, Problem, get, post } from "./api.js";
import { announce, el, fill } from "./dom.js";
import { actionButton, choice, empty, facts, field, figure, head, load, pagedList, status, time } from "./parts.js";
import { memoryLinks } from "./names.js";
import { go, link } from "./route.js";

const WATCH_MS = 2000;
const STATUSES = ["accepted", "running", "succeeded", "failed", "poisoned", "cancelled"];
const KINDS = ["converse", "flush", "agent_memory", "summary", "webhook", "consolidate", "decay", "archive", "forget", "reembed", "export", "import", "erase"];
const OPEN = new Set(["accepted", "running"]);

export async function render(place, context) {
  await (context.view === "task" ? one(place, context) : all(place, context));
}

async function all(place, { query, user }) {
  const asked = { status: query.get("status") || "", kind: query.get("kind") || "" };
  const isEverybody = query.get("of") === "everybody";
  const pick = (name) => (value) => go(link("tasks", "", { ...asked, [name]: value }));
  const any = (names) => [["", "All"], ...names.map((name) => [name, name.replaceAll("_", " ")])];
  const list = el("section", { "aria-label": "Tasks" });
  const filters = el(
    "div.fields.short",
    field("Status", choice("status", any(STATUSES), asked.status, pick("status"))),
    field("Kind", choice("kind", any(KINDS), asked.kind, pick("kind"))),
    field("Whose", choice("of", [["", "This user's"], ["everybody", "Given up, of all users (admin)"]], isEverybody ? "everybody" : "", (value) => go(link("tasks", "", { of: value })))),
  );
  fill(place, head("Tasks and runs", "Conversations being formed, runs that settle memories, imports and exports.", runButton(user)), filters, list);
  const pages = isEverybody ? new Pages("/api/v1/tasks/poisoned", "tasks", { limit: 50 }) : new Pages("/api/v1/tasks", "tasks", { user_id: user, limit: 50, ...asked });
  await pagedList(list, pages, (task) => card(task, task.user_id || user), { none: empty("No task", "Finished tasks can be looked at for seven days.") });
}

/** A run by hand, which settles what has happened since the last one. */
function runButton(user) {
  return actionButton("Start a run", async () => {
    const accepted = await post("/api/v1/consolidate", { user_id: user });
    go(link("task", accepted.task_id));
  });
}

function card(task, owner) {
  return el(
    "article.card",
    { "data-id": task.task_id },
    el("h2.kind", el("a", { href: `#/task/${encodeURIComponent(task.task_id)}?${new URLSearchParams({ user: owner })}` }, task.kind.replaceAll("_", " "))),
    el("p.about", status(task.status), time(task.created_at), task.step ? el("span", task.step) : null, task.attempts ? el("span", `attempt ${task.attempts}`) : null, counts(task), task.user_id ? el("span", `of ${task.user_id}`) : null),
    OPEN.has(task.status) ? progress(task) : null,
    task.error ? el("p.small", task.error) : null,
  );
}

/** What it did, in a few words. */
function counts(task) {
  const entries = Object.entries(task.result?.counts || {}).filter(([, count]) => count);
  return entries.length ? el("span", entries.slice(0, 4).map(([name, count]) => `${figure(count)} ${name.replaceAll("_", " ")}`).join(", ")) : null;
}

function progress(task) {
  const part = Math.round((task.progress || 0) * 100);
  return el("div.progress", { role: "progressbar", "aria-label": "Progress", "aria-valuenow": part, "aria-valuemin": 0, "aria-valuemax": 100 }, el("i", { style: { width: `${part}%` } }));
}

async function one(place, { id, user, signal }) {
  const body = el("div.view");
  fill(place, head("Task"), body);
  const path = `/api/v1/tasks/${encodeURIComponent(id)}`;
  const read = () => get(path, { user_id: user }, { signal });
  await load(body, async () => {
    const task = await read();
    watch(task);
    return shown(task);
  });

  function shown(task) {
    const steer = (verb, label, kind) => actionButton(label, async () => {
      await post(`${path}/${verb}`, { user_id: user });
      announce(label);
      const now = await read();
      fill(body, shown(now));
      document.querySelector("h1").focus();
      watch(now);
    }, { kind });
    return [
      el(
        "section.panel",
        el("h2.kind", task.kind.replaceAll("_", " ")),
        el("p.about", status(task.status), el("code", task.task_id)),
        progress(task),
        facts([
          ["Step", task.step],
          ["Attempts", figure(task.attempts)],
          ["Accepted", time(task.created_at)],
          ["Last change", time(task.updated_at)],
          ["Error", task.error],
          ...Object.entries(task.result?.counts || {}).map(([name, count]) => [name.replaceAll("_", " "), figure(count)]),
        ]),
        el("div.actions", task.status === "poisoned" || task.status === "accepted" ? steer("retry", "Begin anew") : null, OPEN.has(task.status) || task.status === "poisoned" ? steer("cancel", "Cancel", "bad") : null),
      ),
      task.result ? el("section", el("h2", "Result"), made(task.result), el("details", el("summary", "As it was answered"), el("pre", JSON.stringify(task.result, null, 2)))) : null,
    ];
  }

  /** The task; null where the service does not answer just now. */
  async function readAgain() {
    try {
      return await read();
    } catch (error) {
      if (error instanceof Problem || error.name === "AbortError") return null;
      throw error;
    }
  }

  function watch(task) {
    if (!OPEN.has(task.status)) return;
    const timer = setTimeout(async () => {
      const now = await readAgain();
      if (signal.aborted) return;
      if (!now) return void watch(task);
      if (now.updated_at !== task.updated_at) fill(body, shown(now));
      if (!OPEN.has(now.status)) announce(`The task has ${now.status}`);
      watch(now);
    }, WATCH_MS);
    signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  }
}

/** The memories that a conversation became, stretch by stretch. */
function made(result) {
  const cells = result.cells || [];
  if (!cells.length) return null;
  const item = (cell) => el("li.card", el("p.strong", cell.first === cell.last ? `Message ${cell.first + 1}` : `Messages ${cell.first + 1} to ${cell.last + 1}`), memoryLinks(cell.memory_ids));
  return el("ul.list", cells.map(item));
}
