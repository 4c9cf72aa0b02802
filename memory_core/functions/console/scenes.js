// Scenes: stretches of conversations of one theme that are near in time, as a map and as a list.

import { Pages, get, post } from "./api.js";
import { el, fill, svg } from "./dom.js";
import { empty, head, load, memoryCard, plural, words } from "./parts.js";
import { sessionLink } from "./names.js";
import { link } from "./route.js";

const MOST = 200;

export async function render(place, { id, user, signal }) {
  const body = el("div.view");
  fill(place, id ? head("Scene") : head("Scenes", "What the conversations were about, and when. Each dot is a scene: the bigger, the more episodes."), body);
  await load(body, () => (id ? one(id, user, signal) : all(user, signal)));
}

async function all(user, signal) {
  const pages = new Pages("/api/v1/scenes", "scenes", { user_id: user, limit: 100 });
  const scenes = await pages.all(MOST, signal);
  if (!scenes.length) {
    const expected = pages.first.expected_at;
    return empty("No scene yet", expected ? `A run looks for them by ${words(expected)}.` : "Scenes are made by a run, of the episodes of conversations.");
  }
  const place = el("div.drawing");
  new ResizeObserver(() => fill(place, map(scenes, Math.max(260, place.clientWidth - 34)))).observe(place);
  const latest = [...scenes].sort((one, other) => other.ended_at.localeCompare(one.ended_at));
  return [
    el("section", { "aria-label": "Map" }, place),
    el("section", el("h2", plural(scenes.length, pages.isDone ? "scene" : "latest scene")), el("ul.list", latest.map((scene) => el("li", card(scene))))),
  ];
}

function card(scene) {
  return el(
    "article.card",
    el("h3", el("a", { href: link("scenes", scene.id) }, scene.title)),
    el("p.words", scene.summary),
    el("p.about", el("span.kind", scene.theme), el("span", plural(scene.count, "episode")), span(scene)),
    stale(scene),
  );
}

function span(scene) {
  const days = [words(scene.started_at, { isDay: true }), words(scene.ended_at, { isDay: true })];
  return el("span", days[0] === days[1] ? days[0] : `${days[0]} to ${days[1]}`);
}

const stale = (scene) => scene.stale_facts.map((fact) => el("p.small", "Holds no longer: ", fact.text, fact.current ? ` → ${fact.current}` : ""));

async function one(id, user, signal) {
  const scene = await get(`/api/v1/scenes/${encodeURIComponent(id)}`, { user_id: user }, { signal });
  const cells = await post("/api/v1/memories/get", { user_id: user, ids: scene.cell_ids.slice(0, 100) }, { signal });
  const sessions = scene.session_ids.map((session, index) => [index ? ", " : "", sessionLink(session)]);
  return [
    el("section.panel", el("h2", scene.title), el("p.words", scene.summary), el("p.about", el("span.kind", scene.theme), span(scene), sessions.length ? el("span", "told in ", sessions) : null), stale(scene)),
    el("section", el("h2", plural(scene.count, "episode")), el("ol.list", cells.memories.map((memory) => el("li", memoryCard(memory))))),
  ];
}

/** Time from left to right, a lane for each theme. */
function map(scenes, width) {
  const themes = [...new Set(scenes.map((scene) => scene.theme))].sort();
  const tall = 56;
  const from = Math.min(...scenes.map((scene) => Date.parse(scene.started_at)));
  const until = Math.max(...scenes.map((scene) => Date.parse(scene.ended_at)));
  const x = (moment) => 16 + ((Date.parse(moment) - from) / (until - from || 1)) * (width - 32);
  const lane = (theme, index) => [
    svg("text.soft", { x: 0, y: index * tall + 16 }, theme),
    svg("line.axis", { x1: 0, x2: width, y1: index * tall + 36, y2: index * tall + 36 }),
  ];
  const dot = (scene) => {
    const size = Math.min(14, 6 + Math.sqrt(scene.count) * 2);
    const y = themes.indexOf(scene.theme) * tall + 36;
    const label = `${scene.title}, ${plural(scene.count, "episode")}, ${words(scene.started_at, { isDay: true })}`;
    const length = Math.max(size * 2, x(scene.ended_at) - x(scene.started_at) + size * 2);
    return svg("a", { href: link("scenes", scene.id), "aria-label": label }, svg("title", label), svg("rect.dot", { x: x(scene.started_at) - size, y: y - size, width: length, height: size * 2, rx: size }));
  };
  const height = themes.length * tall + 28;
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "Scenes by theme and time" },
    themes.map(lane),
    scenes.map(dot),
    svg("text.soft", { x: 0, y: height - 4 }, words(from, { isDay: true })),
    svg("text.soft", { x: width, y: height - 4, "text-anchor": "end" }, words(until, { isDay: true })),
  );
}
