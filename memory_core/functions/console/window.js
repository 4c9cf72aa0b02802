// A long list of which only the rows in sight are in the page. Rows have one height, so that their places are known.

import { announce, el, fill } from "./dom.js";
import { empty, failed, plural, skeleton } from "./parts.js";

const BESIDE = 8;

/** Show a list of pages in a place. row(item) makes a row's children; none: what is shown of an empty list; oncount: told how many are loaded. */
export function windowed(place, pages, row, { none, oncount = () => {}, signal }) {
  const items = [];
  const list = el("div.window", { role: "list" });
  const foot = el("div.more");
  const rows = new Map();
  let isLoading = false;
  fill(place, list, foot);

  const height = () => Number.parseFloat(getComputedStyle(list).getPropertyValue("--row"));

  function draw() {
    if (!list.isConnected) return;
    const tall = height();
    const top = -list.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(top / tall) - BESIDE);
    const last = Math.min(items.length, Math.ceil((top + window.innerHeight) / tall) + BESIDE);
    for (const [index, element] of rows) {
      if ((index < first || index >= last) && !element.contains(document.activeElement)) {
        element.remove();
        rows.delete(index);
      }
    }
    for (let index = first; index < last; index += 1) if (!rows.has(index)) insert(index, tall);
    if (last > items.length - 3 * BESIDE) more();
  }

  function insert(index, tall) {
    const setSize = pages.isDone ? items.length : -1;
    const element = el("div.line", { role: "listitem", "aria-posinset": index + 1, "aria-setsize": setSize, style: { top: `${index * tall}px` } }, row(items[index]));
    rows.set(index, element);
    const following = [...rows.keys()].filter((other) => other > index);
    list.insertBefore(element, following.length ? rows.get(Math.min(...following)) : null);
  }

  async function more() {
    if (isLoading || pages.isDone) return;
    isLoading = true;
    fill(foot, skeleton(items.length ? 1 : 6));
    try {
      items.push(...(await pages.next(signal)));
    } catch (error) {
      if (error.name !== "AbortError") fill(foot, failed(error, () => ((isLoading = false), more())));
      return;
    }
    isLoading = false;
    fill(foot);
    list.style.setProperty("height", `${items.length * height()}px`);
    oncount(items.length, pages.isDone);
    if (pages.isDone && !items.length) fill(place, none || empty("Nothing here yet"));
    if (pages.isDone) announce(plural(items.length, "memory", "memories"));
    draw();
  }

  function redraw() {
    for (const element of rows.values()) element.remove();
    rows.clear();
    list.style.setProperty("height", `${items.length * height()}px`);
    draw();
  }

  function walk(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const line = event.target.closest(".line");
    if (!step || !line) return;
    const next = [...rows.entries()].find(([, element]) => element === line)?.[0] + step;
    const target = rows.get(next)?.querySelector("a");
    if (!target) return;
    event.preventDefault();
    target.focus();
  }

  list.addEventListener("keydown", walk);
  window.addEventListener("scroll", draw, { passive: true, signal });
  window.addEventListener("resize", redraw, { signal });
  return more();
}
