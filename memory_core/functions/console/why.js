// Why is a memory not found? The answer of the service is asked for what it tells: statuses, filters, places and thresholds.

import { Pages, Problem, get, post } from "./api.js";
import { announce, el } from "./dom.js";
import { memoryLink, sessionLink, shortened } from "./names.js";
import { actionButton, bar, briefOf, field, figure, forgottenBeside, load, memoryCard, plural, words, wordsOf } from "./parts.js";
import { go, link } from "./route.js";

const ID = /^(mem|msg)_[0-9A-Za-z]+$/;
const MOST_CANDIDATES = 500;
const MOST_SCANNED = 1000;
const MOST_CHOICES = 8;
const MOST_NEAR = 3;
const OPEN = { answer_threshold: 0, similarity_threshold: 0, score_threshold: undefined, limit: 100, explain: true, view: "full" };

/** The form "why is a memory not found?" and what it brings out. asked: the fields of the address. */
export function whyPanel(request, asked, signal) {
  const answer = el("div", { "aria-live": "polite", tabindex: "-1" });
  const input = el("input", { name: "why", value: asked.why || "", autocomplete: "off", spellcheck: "false" });
  const diagnose = (wanted) => load(answer, () => findOut(request, wanted, choose, signal));
  const choose = (id) => {
    input.value = id;
    if (answer.contains(document.activeElement)) answer.focus({ preventScroll: true });
    return diagnose(id);
  };
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
  return followed(request, memory, signal, choose);
}

/** Memories that have the words, for the person to choose from; at once the one, if there is but one. */
async function candidatesOf(request, text, choose, signal) {
  const wanted = wordsIn(text);
  const list = new Pages("/api/v1/memories", "memories", { user_id: request.user_id, status: "all", limit: 100, fields: "content,value,value_text,type,category,status,event_timestamp,session_id" });
  const scanned = await list.all(MOST_SCANNED, signal);
  const near = (await post("/api/v1/memories/retrieve", { user_id: request.user_id, query: text, ...OPEN, limit: 5, explain: false }, { signal })).results.map((result) => result.memory);
  const seen = new Map([...scanned, ...near].map((memory) => [memory.id, memory]));
  const same = [...seen.values()].filter((memory) => wanted.every((word) => has(memory, word))).sort(byCloseness);
  const pick = (memory) => el("li", memoryCard(memory, el("button.plain", { type: "button", onclick: () => choose(memory.id) }, "This one")));
  if (same.length === 1) return void choose(same[0].id);
  if (same.length) return el("div.list", el("p", `${plural(same.length, "memory", "memories")} have these words, the nearest to them first. Which one is meant?`), el("ul.list.clamped", same.slice(0, MOST_CHOICES).map(pick)));
  const title = list.isDone ? "No memory has these words" : `None of the latest ${plural(scanned.length, "memory", "memories")} has these words`;
  announce(title);
  return el(
    "div.list",
    verdict(title, absent([...seen.values()], wanted)),
    near.length ? el("p", "Nearest in meaning, with other words:") : null,
    el("ul.list.clamped", near.slice(0, MOST_NEAR).map(pick)),
  );
}

const wordsIn = (text) => text.toLowerCase().split(/[\s"“”„]+/).filter(Boolean);
const has = (memory, word) => wordsOf(memory).toLowerCase().includes(word);

/** Those of which the words are the greater part come first, and of equal ones a fact. */
function byCloseness(first, second) {
  const size = (memory) => briefOf(memory).length + (memory.category === "fact" ? 0 : 1);
  return size(first) - size(second);
}

/** Which of the words are nowhere. */
function absent(memories, wanted) {
  const nowhere = wanted.filter((word) => !memories.some((memory) => has(memory, word)));
  const saved = " It may be another user's, or it was told in other words, not yet formed, or never saved.";
  if (!nowhere.length) return `Each of them is in some memory, but no memory of this user has them all.${saved}`;
  return `No memory of this user, of whatever status, has ${nowhere.map((word) => `“${word}”`).join(" or ")}.${saved}`;
}

/** Each check of one memory, and the first that fails as the verdict. */
async function followed(request, memory, signal, choose) {
  const asked = await post("/api/v1/memories/retrieve", { ...request, limit: 100, explain: true, view: "full" }, { signal });
  const limit = request.limit || 10;
  const seen = place(asked.results, memory);
  const lost = memory.status === "superseded" && !memory.next_id ? await forgottenBeside(memory, request.user_id, signal) : [];
  const checks = [statusCheck(memory, request, lost), searchableCheck(memory), timeCheck(memory, request), ...filterChecks(memory, request)];
  let scores = null;
  if (seen && seen.index < limit) {
    checks.push(placeCheck(seen, memory));
  } else if (checks.every((check) => check.isFine)) {
    const open = await openPlace(request, memory, signal);
    scores = open.seen?.result.relevance_score ?? null;
    checks.push(...(await candidateChecks(open, asked, seen, limit, request, memory, signal)));
  }
  const broken = checks.find((check) => !check.isFine);
  const { title, detail } = broken || checks.at(-1);
  announce(title);
  const isRestorable = broken && ["deleted", "archived"].includes(memory.status);
  return el("div.list", verdict(title, detail), isRestorable ? restoreButton(memory, request, choose) : null, ladder(scores, asked, broken?.mark), el("ol.checks", checks.map(line)), el("div.clamped", memoryCard(memory)));
}

/** Brings a memory back into use and follows it anew. */
function restoreButton(memory, request, choose) {
  const button = actionButton("Restore it", async () => {
    await post(`/api/v1/memories/${encodeURIComponent(memory.id)}/restore`, { user_id: request.user_id });
    announce("It is restored");
    await choose(memory.id);
  });
  return el("div.actions", button);
}

/** A check that is passed, or not. detail: a text, or a function that makes nodes, since it may be shown twice. */
const yes = (title, detail = "") => ({ isFine: true, title, detail });
const no = (title, detail = "") => ({ isFine: false, title, detail });
const verdict = (title, detail) => el("div.verdict", { role: "status" }, el("p.strong", title), el("p", made(detail)));
const made = (detail) => (typeof detail === "function" ? detail() : detail);
const line = (check) => el("li", { "data-is": check.isFine ? "yes" : "no" }, el("span.sign", { "aria-hidden": "true" }, check.isFine ? "✓" : "✕"), el("div", el("p.strong", check.title), check.detail ? el("p.small", made(check.detail)) : null));

function statusCheck(memory, request, lost) {
  const at = request.at ? ` It may have held at ${words(request.at)}: then a search with this moment finds it.` : "";
  const name = memory.status;
  if (name === "deleted") return no("It is deleted", `Reason: ${memory.status_reason.replaceAll("_", " ")}. Restored, it can be found again.`);
  if (name === "archived" && !request.include_archived) return no("It is in the archive", "The search leaves the archive out. Set “Archive” to “Searched, too”, or restore it.");
  if (name === "superseded" && !request.at) return no("Another memory replaced it", () => [memory.next_id ? ["Replaced by “", memoryLink(memory.next_id), "”. "] : lost.map((sentence) => `${sentence} `), `A search with “True at” before ${memory.valid_until ? words(memory.valid_until) : "that moment"} finds the old one.`]);
  return yes(`Its status is ${name}`, name === "superseded" ? at : "");
}

function searchableCheck(memory) {
  return memory.searchable === false ? no("It was saved as not searchable", "Such a memory is kept and listed, and no search finds it.") : yes("It is searchable");
}

function timeCheck(memory, request) {
  const moment = new Date(request.at || Date.now());
  const when = request.at ? `at ${words(request.at)}` : "now";
  const verb = request.at ? "was" : "is";
  if (memory.valid_until && new Date(memory.valid_until) <= moment) return no(`It ${verb} not true ${when}`, `It held until ${words(memory.valid_until)}.`);
  if (request.at && memory.valid_from && new Date(memory.valid_from) > moment) return no(`It was not true ${when} yet`, `It holds from ${words(memory.valid_from)} on.`);
  return yes(request.at ? `It was true ${when}` : "It is true now");
}

function filterChecks(memory, request) {
  const checks = [];
  if (request.session_id) checks.push(memory.session_id === request.session_id ? yes("It is of the session that is searched") : no("The filter on the session leaves it out", memory.session_id ? () => ["It is of the session ", sessionLink(memory.session_id), "."] : "It is of no session."));
  if (request.types) checks.push(request.types.includes(memory.type) ? yes("It is of the type that is searched") : no("The filter on the type leaves it out", `It is ${memory.type}.`));
  return checks;
}

/** Where a memory stands in results: itself, as a passage, or only by another memory of its episode. */
function place(results, memory) {
  for (const [index, result] of results.entries()) {
    if (result.memory.id === memory.id) return { index, result, by: "itself" };
    if (result.passages.some((part) => part.message === memory.id)) return { index, result, by: "a passage" };
    if (result.also.includes(memory.id)) return { index, result, by: "another" };
  }
  return null;
}

function placeCheck(seen, memory) {
  if (seen.by === "itself") return yes("It is found", () => placeWords(seen));
  if (seen.by === "a passage") return yes("It is found, as a passage of another memory", () => placeWords(seen));
  if (briefOf(seen.result.memory) === briefOf(memory)) return yes("A memory with the same words is found in its place", () => placeWords(seen));
  return no("Another memory of its episode is found in its place", () => [placeWords(seen), " The agent reads that one's words and passages, not these. To find this one, ask with its own words."]);
}

function placeWords(seen) {
  if (seen.by === "itself") return `At place ${seen.index + 1}, with a relevance of ${figure(seen.result.relevance_score)}.`;
  return [`Place ${seen.index + 1} is ${seen.by === "another" ? "taken by" : "of"} “`, el("a", { href: link("memory", seen.result.memory.id) }, shortened(briefOf(seen.result.memory))), "”."];
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
  const where = yes("It is a candidate", () => ["Without thresholds: ", placeWords(open.seen)]);
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
  const floor = request.similarity_threshold ?? (await ownThreshold(request, signal));
  const needed = floor === null ? `The least that passed has ${figure(last)}` : `The threshold is ${figure(floor)}`;
  const under = no("Its relevance is under the similarity threshold", `It has ${relevance}. ${needed}. A lower one in “Filters and thresholds” lets it through.`);
  return [where, floor === null ? under : { ...under, mark: { at: floor, label: "similarity threshold" } }];
}

/** The similarity threshold of the service: what a search names as needed where nothing else is, and no score is high enough. */
async function ownThreshold(request, signal) {
  const { nearest } = await post("/api/v1/memories/retrieve", { ...request, answer_threshold: 0, score_threshold: 1, limit: 1 }, { signal });
  return nearest?.answer_threshold ?? null;
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

function ladder(relevance, asked, mark) {
  if (relevance === null) return null;
  const marks = asked.nearest ? [{ at: asked.nearest.answer_threshold, label: "answer threshold" }] : mark ? [mark] : [];
  const best = asked.results[0]?.relevance_score ?? asked.nearest?.relevance_score;
  return el("div.meters", bar("This one", relevance, { isMain: true, marks }), best === undefined ? null : bar("The best", best, { marks }));
}
