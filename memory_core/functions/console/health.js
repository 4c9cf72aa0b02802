// Health: whether saves and retrieves work, what each dependency answered, and how the connection pools stand.

import { get } from "./api.js";
import { el, fill } from "./dom.js";
import { actionButton, facts, figure, head, load, status, time } from "./parts.js";

const NAMES = { long_term: "Long-term store", short_term: "Short-term store", archive: "Archive", queue: "Queue", embedder: "Embedder", agents: "Language model" };

export async function render(place, { signal }) {
  const ready = el("section", { "aria-label": "Dependencies" });
  const pools = el("section", { "aria-labelledby": "pools" });
  const refresh = async () => {
    await Promise.all([
      load(ready, async () => dependencies(await get("/health/ready", {}, { signal, accept: [503] }))),
      load(pools, async () => poolTable(await get("/api/v1/system/pool-stats", {}, { signal })), { rows: 2 }),
    ]);
  };
  fill(place, head("Health", "Whether saves and retrieves work now, and what each dependency answered.", actionButton("Look again", refresh)), ready, pools);
  await refresh();
}

function dependencies(state) {
  return [
    el("p.about", status(state.status), state.checked_at ? el("span", "asked ", time(state.checked_at)) : null),
    el("ul.pair", Object.entries(state.dependencies || {}).map(([name, report]) => el("li.card", dependency(name, report)))),
  ];
}

function dependency(name, report) {
  return [
    el("h2", NAMES[name] || name.replaceAll("_", " ")),
    el("p.about", status(report.status), el("span", report.adapter), report.latency_ms === null ? null : el("span", `${figure(report.latency_ms)} ms`)),
    report.detail ? el("p.small", report.detail) : null,
    factsOf(Object.entries(report.facts || {}).map(([fact, value]) => [fact.replaceAll("_", " "), figureOf(fact, value)])),
  ];
}

function factsOf(rows) {
  const list = facts(rows);
  list.classList.add("narrow");
  return rows.length ? list : null;
}

function figureOf(name, value) {
  if (typeof value !== "number") return String(value);
  return name.endsWith("bytes") ? size(value) : figure(value);
}

function size(bytes) {
  const steps = ["bytes", "KB", "MB", "GB", "TB"];
  const step = bytes > 0 ? Math.min(steps.length - 1, Math.floor(Math.log(bytes) / Math.log(1024))) : 0;
  return `${figure(Math.round((bytes / 1024 ** step) * 10) / 10)} ${steps[step]}`;
}

function poolTable(pools) {
  const rows = Object.entries(pools).map(([name, pool]) => el("tr", el("td", NAMES[name] || name), el("td.number", figure(pool.active)), el("td.number", figure(pool.size))));
  const names = el("tr", el("th", { scope: "col" }, "Pool"), el("th.number", { scope: "col" }, "In use"), el("th.number", { scope: "col" }, "Connections"));
  return [el("h2", { id: "pools" }, "Connection pools"), el("div.scroll", { tabindex: "0", role: "group", "aria-label": "Connection pools" }, el("table", el("thead", names), el("tbody", rows)))];
}
