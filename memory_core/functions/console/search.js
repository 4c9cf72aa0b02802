// Search: what a query finds, what each signal gave to it, and why a memory is not among it.

import { post } from "./api.js";
import { announce, el, fill } from "./dom.js";
import { about, bar, choice, empty, facts, field, figure, fromLocal, head, load, plural, time, toLocal, briefOf, words } from "./parts.js";
import { memoryLinks } from "./names.js";
import { go, link } from "./route.js";
import { whyPanel } from "./why.js";

const RECIPES = ["composite", "balanced", "weighted", "linear"];
const TYPES = [["", "All"], ["episodic", "Episodic"], ["semantic", "Semantic"], ["procedural", "Procedural"]];
const LISTS = { vector: "by meaning", lexical: "by words", short: "in the session" };
const SIGNALS = [
  ["Similarity", "similarity_score"],
  ["Words", "lexical_score"],
  ["Recency", "recency_score"],
  ["Importance", "importance_score"],
  ["Frequency", "frequency_score"],
  ["Confidence", "confidence_score"],
];
const NUMBERS = ["answer_threshold", "similarity_threshold", "score_threshold"];

export async function render(place, { query, user, signal }) {
  const asked = Object.fromEntries(query);
  const results = el("section", { "aria-label": "Results" });
  const form = searchForm(asked);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(link("search", "", given(form)));
  });
  const why = asked.q ? whyPanel(requestOf(asked, user), asked, signal) : null;
  fill(place, head("Search", "What an agent would be given for a query, and how each result came to its place."), el("div.asking", form, why), results);
  if (!asked.q) return void fill(results, empty("Ask something", "A question or a few words, as your agent would send them."));
  const request = requestOf(asked, user);
  await load(results, async () => show(await post("/api/v1/memories/retrieve", { ...request, explain: true, view: "full" }, { signal }), request));
}

function searchForm(asked) {
  const text = el("input", { type: "search", name: "q", value: asked.q || "", "aria-label": "Query", placeholder: "Where does Ana work?", "data-focus": true, required: true, maxlength: 10000 });
  const input = (name, properties = {}) => el("input", { name, value: asked[name] || "", ...properties });
  const number = (name) => input(name, { type: "number", min: 0, max: 1, step: "0.01", placeholder: "default" });
  const isNarrowed = Object.keys(asked).some((name) => !["q", "user", "why"].includes(name));
  return el(
    "form.ask",
    el("div.main", text, el("button.strong", "Search")),
    el(
      "details",
      { open: isNarrowed },
      el("summary", "Filters and thresholds"),
      el(
        "div.fields.short.roomy",
        field("Session", input("session", { autocomplete: "off" })),
        field("Type", choice("type", TYPES, asked.type || "")),
        wide(field("True at", el("input", { type: "datetime-local", name: "at", value: toLocal(asked.at) }))),
        field("Recipe", choice("recipe", [["", "Default"], ...RECIPES.map((name) => [name, name])], asked.recipe || "")),
        field("Answer threshold", number("answer_threshold")),
        field("Similarity threshold", number("similarity_threshold")),
        field("Score threshold", number("score_threshold")),
        field("Results", input("limit", { type: "number", min: 1, max: 100, placeholder: "10" })),
        field("Archive", choice("archived", [["", "Left out"], ["true", "Searched, too"]], asked.archived || "")),
      ),
    ),
  );
}

function wide(element) {
  element.classList.add("wide");
  return element;
}

function given(form) {
  const fields = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]));
  return { ...fields, at: fromLocal(fields.at) };
}

/** The body of the call. */
function requestOf(asked, user) {
  const numbers = NUMBERS.filter((name) => asked[name]).map((name) => [name, Number(asked[name])]);
  return {
    user_id: user,
    query: asked.q,
    ...(asked.session ? { session_id: asked.session } : {}),
    ...(asked.type ? { types: [asked.type] } : {}),
    ...(asked.at ? { at: asked.at } : {}),
    ...(asked.recipe ? { recipe: asked.recipe } : {}),
    ...(asked.limit ? { limit: Number(asked.limit) } : {}),
    ...(asked.archived ? { include_archived: true } : {}),
    ...Object.fromEntries(numbers),
  };
}

function show(answer, request) {
  const count = answer.results.length;
  announce(count ? plural(count, "result") : "No result");
  const marks = NUMBERS.slice(0, 2).filter((name) => request[name] !== undefined).map((name) => ({ at: request[name], label: name.replace("_", " ") }));
  return [
    el("div.row", el("h2.grow", count ? plural(count, "result") : "Nothing is near enough"), el("p.small", "recipe ", answer.explain.recipe)),
    answer.degraded.length ? el("p.complaint", `Done without: ${answer.degraded.join(", ")}`) : null,
    count ? el("ol.list", answer.results.map((result) => el("li", hit(result, marks)))) : nearest(answer.nearest),
    understood(answer.explain),
  ];
}

function nearest(near) {
  if (!near) return empty("The filters let no memory through", "There is none of this session, type and time.");
  const mark = { at: near.answer_threshold, label: "answer threshold" };
  return el(
    "div.empty",
    el("p", `The nearest memory comes to ${figure(near.relevance_score)}, and ${figure(near.answer_threshold)} is needed for an answer.`),
    el("div.meters", bar("Nearest", near.relevance_score, { isMain: true, marks: [mark] })),
  );
}

function hit(result, marks) {
  const memory = result.memory;
  return el(
    "article.card.hit",
    { "data-id": memory.id },
    el("p.rank", { "aria-label": `Place ${result.rank}` }, String(result.rank)),
    el(
      "div.told",
      el("p.words", el("a", { href: link("memory", memory.id) }, briefOf(memory))),
      about(memory, result.tier === "faded" ? el("span", `faded, ${plural(result.age_days, "day")} old`) : null),
      result.passages.length ? el("div.told", { "aria-label": "Passages", role: "group" }, result.passages.map(passage)) : null,
      result.stale_facts.map((fact) => el("p.small", "Holds no longer: ", fact.text, fact.current ? ` → ${fact.current}` : "")),
      result.replaced_by.map((later) => el("p.small", `“${later.replaced}” replaced on `, time(later.at), `: ${later.text}`)),
      result.disputed_by.map((other) => el("p.small", "In conflict with what was said on ", time(other.at), ": ", el("a", { href: link("memory", other.memory_id) }, other.text))),
      result.also.length ? others(result.also) : null,
      el("details", el("summary", "How it came to its place"), explained(result.explain)),
    ),
    el(
      "div.meters",
      bar("Score", result.score, { isMain: true }),
      bar("Relevance", result.relevance_score, { isMain: true, marks }),
      SIGNALS.filter(([, name]) => result[name] !== null).map(([label, name]) => bar(label, result[name])),
      el("p.small", "Found ", result.matched_by.map((name) => LISTS[name] || name).join(" and ") || "by its neighbours"),
      marks.length ? el("p.small", marks.map((mark) => `${mark.label} ${figure(mark.at)}`).join(", ")) : null,
    ),
  );
}

/** The memories that a result stands for; their words are fetched once they are asked for. */
function others(ids) {
  const list = el("div");
  const show = (event) => event.target.open && !list.childElementCount && fill(list, memoryLinks(ids));
  return el("details", { ontoggle: show }, el("summary", `Stands for ${plural(ids.length, "more memory", "more memories")} of its episode`), list);
}

function passage(part) {
  return el("blockquote.quote", el("p", part.text), el("footer.about", el("span", part.actor), time(part.at), el("span", `relevance ${figure(part.relevance_score)}`)));
}

function explained(why) {
  const terms = Object.entries(why.terms || {});
  const learned = Object.entries(why.learned || {}).sort(([, one], [, other]) => Math.abs(other) - Math.abs(one));
  return el(
    "div.told",
    facts([
      ...Object.entries(why.ranks).map(([list, place]) => [`Place ${LISTS[list] || list}`, figure(place)]),
      ["What the turns around say", figure(why.around)],
      ["Order", figure(why.order)],
      ...Object.entries(why.boosts || {}).map(([name, factor]) => [`Factor: ${name}`, `× ${figure(factor)}`]),
      ["Reranked", why.reranked === null ? null : figure(why.reranked)],
      ["Fades", why.fading ? fading(why.fading) : null],
    ]),
    terms.length ? termTable(terms) : null,
    learned.length ? learnedTable(learned) : null,
  );
}

function fading(state) {
  if (state.never) return `never (${state.never})`;
  return state.at ? `${state.becomes} on ${words(state.at, { isDay: true })}` : "not yet known";
}

function termTable(terms) {
  const rows = terms.map(([term, part]) => {
    const how = part.own ? "says it" : part.excused ? "need not say it" : part.near ? `a near word (${figure(part.near)})` : part.next ? "the turn after says it" : "does not say it";
    return el("tr", el("td", term), el("td.number", figure(part.worth)), el("td.number", figure(part.frequency)), el("td", how));
  });
  const names = el("tr", el("th", { scope: "col" }, "Term"), el("th.number", { scope: "col" }, "Worth"), el("th.number", { scope: "col" }, "Frequency"), el("th", { scope: "col" }, "The memory"));
  return scrolled("Terms of the query", el("table", el("thead", names), el("tbody", rows)));
}

function learnedTable(features) {
  const rows = features.slice(0, 12).map(([name, value]) => el("tr", el("td", name.replaceAll("_", " ")), el("td.number", value > 0 ? `+${figure(value)}` : figure(value))));
  return scrolled("Learned order", el("table", el("thead", el("tr", el("th", { scope: "col" }, "Learned feature"), el("th.number", { scope: "col" }, "Adds"))), el("tbody", rows)));
}

const scrolled = (label, table) => el("div.scroll", { tabindex: "0", role: "group", "aria-label": label }, table);

const windowText = (window) => (Array.isArray(window) ? window.map((moment) => words(moment, { isDay: true })).join(" to ") : JSON.stringify(window));

function understood(explain) {
  const terms = Object.entries(explain.document_frequency || {}).map(([term, count]) => `${term} (in ${count})`);
  const lists = Object.entries(explain.candidates || {}).map(([name, count]) => `${count} ${LISTS[name] || name}`);
  return el(
    "details",
    el("summary", "What the query was taken for"),
    facts([
      ["Terms", terms.join(", ")],
      ["Candidates", lists.join(", ")],
      ["Memories searched", figure(explain.documents)],
      ["Asks for a time", explain.asks_time ? "yes" : "no"],
      ["Windows of dates", explain.windows?.length ? explain.windows.map(windowText).join("; ") : null],
      ["Request charge", explain.request_charge === null ? null : figure(explain.request_charge)],
    ]),
  );
}
