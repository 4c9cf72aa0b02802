// Why is a memory not found? The answer of the service is asked for what it tells: statuses, filters, places and thresholds.

import { Pages, Problem, get, post } from "./api.js";
import { announce, el } from "./dom.js";
import { bar, empty, field, figure, load, memoryCard, plural, words, wordsOf } from "./parts.js";
import { go, link } from "./route.js";

const ID = /^(mem|msg)_[0-9A-Za-z]+$/;
const MOST_CANDIDATES = 500;
const MOST_SCANNED = 500;
const OPEN = { answer_threshold: 0, similarity_threshold: 0, score_threshold: undefined, limit: 100, explain: true, view: "full" };

/** The form "why is a memory not found?" and what it brings out. asked: the fields of the address. */
export function whyPanel(request, asked, signal) {
  const answer = el("div", { "aria-live": "polite" });
  const input = el("input", { name: "why", value: asked.why || "", autocomplete: "off", spellcheck: "false" });
  const diagnose = (wanted) => load(answer, () => findOut(request, wanted, (id) => ((input.value = id), diagnose(id)), signal));
  const submit = (event) => {
    event.preventDefault();
    const { user, ...kept } = asked;
    go(link("search", "", { ...kept, why: input.value.trim() }), { isQuiet: true });
    if (input.value.trim()) diagnose(input.value.trim());
  };
  if (asked.why) diagnose(asked.why);
  return el(
    "details.why",
    { open: Boolean(asked.why) },
    el("summary", "Why is a memory not found?"),
    el(
      "div.panel",
      el("p.lead", "Its id, or words that it has. It is followed through this search: status, filters, candidates, thresholds."),
      el("form.row", { onsubmit: submit }, el("div.grow", field("Memory id or words", input)), el("button", "Find out")),
      answer,
    ),
  );
}

async function findOut(request, wanted, choose, signal) {
  if (!ID.test(wanted)) return candidatesOf(request, wanted, choose, signal);
  let memory;
  try {
    memory = await get(`/api/v1/memories/${encodeURIComponent(wanted)}`, { user_id: request.user_id }, { signal });
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return verdict("It is not there", "This user has no memory of this id. It may belong to another user or app, or have been forgotten for good.");
    throw error;
  }
  return followed(request, memory, signal);
}

/** Memories that have the words, for the person to choose from; at once the one, if there is but one. */
async function candidatesOf(request, text, choose, signal) {
  const wanted = text.toLowerCase().split(/\s+/);
  const list = new Pages("/api/v1/memories", "memories", { user_id: request.user_id, status: "all", limit: 100, fields: "content,type,category,status,event_timestamp,session_id" });
  const scanned = await list.all(MOST_SCANNED, signal);
  const same = scanned.filter((memory) => wanted.every((word) => wordsOf(memory).toLowerCase().includes(word)));
  const near = await post("/api/v1/memories/retrieve", { user_id: request.user_id, query: text, ...OPEN, limit: 5, explain: false }, { signal });
  const ids = new Set(same.map((memory) => memory.id));
  const all = [...same.slice(0, 8), ...near.results.map((result) => result.memory).filter((memory) => !ids.has(memory.id))].slice(0, 8);
  if (!all.length) return empty("No memory has these words", `Neither the latest ${plural(scanned.length, "memory", "memories")} of any status nor a search for them has any.`);
  const pick = (memory) => el("li", memoryCard(memory, el("button.plain", { type: "button", onclick: () => choose(memory.id) }, "This one")));
  return el("div.list", el("p", "Which one is meant?"), el("ul.list.clamped", all.map(pick)));
}

/** Each check of one memory, and the first that fails as the verdict. */
async function followed(request, memory, signal) {
  const asked = await post("/api/v1/memories/retrieve", { ...request, limit: 100, explain: true, view: "full" }, { signal });
  const limit = request.limit || 10;
  const seen = place(asked.results, memory);
  const checks = [statusCheck(memory, request), searchableCheck(memory), timeCheck(memory, request), ...filterChecks(memory, request)];
  let scores = null;
  if (seen && seen.index < limit) {
    checks.push(yes("It is found", placeWords(seen)));
  } else if (checks.every((check) => check.isFine)) {
    const open = await openPlace(request, memory, signal);
    scores = open.seen?.result.relevance_score ?? null;
    checks.push(...(await candidateChecks(open, asked, seen, limit, request, memory, signal)));
  }
  const broken = checks.find((check) => !check.isFine);
  const [title, detail] = broken ? [broken.title, broken.detail] : ["It is found", placeWords(seen)];
  announce(title);
  return el("div.list", verdict(title, detail), ladder(scores, asked), el("ol.checks", checks.map(line)), el("div.clamped", memoryCard(memory)));
}

const yes = (title, detail = "") => ({ isFine: true, title, detail });
const no = (title, detail = "") => ({ isFine: false, title, detail });
const verdict = (title, detail) => el("div.verdict", { role: "status" }, el("p.strong", title), el("p", detail));
const line = (check) => el("li", { "data-is": check.isFine ? "yes" : "no" }, el("span.sign", { "aria-hidden": "true" }, check.isFine ? "✓" : "✕"), el("div", el("p.strong", check.title), check.detail ? el("p.small", check.detail) : null));

function statusCheck(memory, request) {
  const at = request.at ? ` It may have held at ${words(request.at)}: then a search with this moment finds it.` : "";
  const name = memory.status;
  if (name === "deleted") return no("It is deleted", `Reason: ${memory.status_reason}. Restore it to have it found.`);
  if (name === "archived" && !request.include_archived) return no("It is in the archive", "The search leaves the archive out; set “Archive” to “Searched, too”.");
  if (name === "superseded" && !request.at) return no("Another memory replaced it", `What replaced it is found in its place. A search with “True at” before ${memory.valid_until ? words(memory.valid_until) : "that moment"} finds it.`);
  return yes(`Its status is ${name}`, name === "superseded" ? at : "");
}

function searchableCheck(memory) {
  return memory.searchable === false ? no("It was saved as not searchable", "Such a memory is kept and listed, and no search finds it.") : yes("It is searchable");
}

function timeCheck(memory, request) {
  const moment = new Date(request.at || Date.now());
  const when = request.at ? `at ${words(request.at)}` : "now";
  if (memory.valid_until && new Date(memory.valid_until) <= moment) return no(`It was not true ${when}`, `It held until ${words(memory.valid_until)}.`);
  if (request.at && memory.valid_from && new Date(memory.valid_from) > moment) return no(`It was not true ${when} yet`, `It holds from ${words(memory.valid_from)} on.`);
  return yes(`It holds ${when}`);
}

function filterChecks(memory, request) {
  const checks = [];
  if (request.session_id) checks.push(memory.session_id === request.session_id ? yes("It is of the session that is searched") : no("The filter on the session leaves it out", memory.session_id ? `It is of the session ${memory.session_id}.` : "It is of no session."));
  if (request.types) checks.push(request.types.includes(memory.type) ? yes("It is of the type that is searched") : no("The filter on the type leaves it out", `It is ${memory.type}.`));
  return checks;
}

/** Where a memory stands in results: itself, or another memory of its episode that stands for it. */
function place(results, memory) {
  for (const [index, result] of results.entries()) {
    if (result.memory.id === memory.id) return { index, result, by: "itself" };
    if (result.also.includes(memory.id) || result.passages.some((part) => part.message === memory.id)) return { index, result, by: "its episode" };
  }
  return null;
}

function placeWords(seen) {
  return seen.by === "itself" ? `At place ${seen.index + 1}, with a relevance of ${figure(seen.result.relevance_score)}.` : `Place ${seen.index + 1} stands for it: a memory of the same episode, “${seen.result.memory.content.slice(0, 80)}”.`;
}

async function openPlace(request, memory, signal) {
  const list = new Pages("/api/v1/memories/retrieve", "results", { ...request, ...OPEN }, { method: "POST" });
  const results = [];
  let seen = null;
  while (!seen && !list.isDone && results.length < MOST_CANDIDATES) {
    results.push(...(await list.next(signal)));
    seen = place(results, memory);
  }
  return { seen, count: results.length, best: Math.max(0, ...results.map((result) => result.relevance_score)), explain: list.first.explain };
}

async function candidateChecks(open, asked, seen, limit, request, memory, signal) {
  if (!open.seen) return [no("It is no candidate", await notListed(open, request, memory, signal))];
  const where = yes("It is a candidate", `Without thresholds: ${placeWords(open.seen)}`);
  if (seen) return [where, no("It stands behind the limit", `At place ${seen.index + 1} of ${asked.results.length}; ${limit} are asked for.`)];
  if (asked.next_cursor) return [where, no("It stands behind the limit", `More than ${asked.results.length} results are before it; ${limit} are asked for.`)];
  const relevance = figure(open.seen.result.relevance_score);
  if (!asked.results.length && asked.nearest) {
    const { relevance_score: best, answer_threshold: needed } = asked.nearest;
    if (best < needed) return [where, no("The query is not answered at all", `The nearest memory comes to ${figure(best)}, and the answer threshold is ${figure(needed)}. This one has ${relevance}.`)];
    return [where, no("The score threshold leaves all out", `The relevance of the best is ${figure(best)}, above the answer threshold.`)];
  }
  const last = Math.min(...asked.results.map((result) => result.relevance_score));
  if (request.score_threshold !== undefined && open.seen.result.score < request.score_threshold) return [where, no("Its score is under the score threshold", `It has ${figure(open.seen.result.score)}; ${figure(request.score_threshold)} is asked for.`)];
  const floor = request.similarity_threshold === undefined ? `the service's own; the least that passed is ${figure(last)}` : figure(request.similarity_threshold);
  return [where, no("Its relevance is under the similarity threshold", `It has ${relevance}. The threshold is ${floor}.`)];
}

/** Of a memory that no list brought up: how big the lists are, and what it comes to where only its own session and type are searched. */
async function notListed(open, request, memory, signal) {
  const lists = Object.entries(open.explain.candidates).map(([name, count]) => `${name} ${count}`).join(", ");
  const narrow = { ...request, ...OPEN, types: [memory.type], ...(memory.session_id ? { session_id: memory.session_id } : {}) };
  const alone = place((await post("/api/v1/memories/retrieve", narrow, { signal })).results, memory);
  const text = wordsOf(memory).toLowerCase();
  const missing = open.explain.terms.filter((term) => !text.includes(term));
  const comes = alone ? `Among its own session and type alone it comes to ${figure(alone.result.relevance_score)}, at place ${alone.index + 1}.` : "Nor is it one among its own session and type alone.";
  return `None of the lists (${lists}) brought it up; ${plural(open.count, "memory was", "memories were")} looked at. ${comes}${missing.length ? ` Of the query's terms it does not have: ${missing.join(", ")}.` : ""}`;
}

function ladder(relevance, asked) {
  if (relevance === null) return null;
  const marks = asked.nearest ? [{ at: asked.nearest.answer_threshold, label: "answer threshold" }] : [];
  const best = asked.results[0]?.relevance_score ?? asked.nearest?.relevance_score;
  return el("div.meters", bar("This one", relevance, { isMain: true, marks }), best === undefined ? null : bar("The best", best, { marks }));
}
