// The public HTTP calls, and nothing else: no call is made for the console alone.

const KEY = "memory-core.key";
const CORRELATION = "x-correlation-id";

/** What an answer says when it says no: the fields of application/problem+json. */
export class Problem extends Error {
  constructor(status, fields, correlationId) {
    super(fields.detail || fields.title || `The service answered with ${status}`);
    this.status = status;
    this.title = fields.title || "";
    this.suggestion = fields.did_you_mean || "";
    this.correlationId = fields.correlation_id || correlationId || "";
  }

  /** Whether this version of the service has no such call. */
  get isMissingCall() {
    return this.status === 404 && /^No call has this path/.test(this.message);
  }
}

export const key = {
  get: () => sessionStorage.getItem(KEY) || "",
  set: (text) => sessionStorage.setItem(KEY, text),
  forget: () => sessionStorage.removeItem(KEY),
};

/** The address of a call with its query; empty values are left out. */
export function address(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

/** The JSON of an answer, null of an empty one. Throws Problem; AbortError where `signal` says so. */
export async function call(method, path, { query, body, signal, accept = [] } = {}) {
  const headers = { ...(key.get() ? { "X-API-Key": key.get() } : {}), ...(body ? { "Content-Type": "application/json" } : {}) };
  const response = await send(address(path, query), { method, headers, signal, body: body ? JSON.stringify(body) : undefined });
  const answer = await json(response);
  if (response.ok || accept.includes(response.status)) return answer;
  if (response.status === 401) document.dispatchEvent(new CustomEvent("key-refused"));
  throw new Problem(response.status, answer || {}, response.headers.get(CORRELATION));
}

async function send(url, options) {
  try {
    return await fetch(url, { ...options, cache: "no-store", credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { title: "No answer", detail: "The service can't be reached. It may be starting, or the network is down." });
  }
}

async function json(response) {
  const text = await response.text();
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(response.status, { detail: "The answer is no JSON" }, response.headers.get(CORRELATION));
  }
}

export const get = (path, query, options) => call("GET", path, { ...options, query });
export const post = (path, body, options) => call("POST", path, { ...options, body });

/** A list that is read page by page: `await list.next()` gives the items of the next page, `list.isDone` says when there are no more. */
export class Pages {
  constructor(path, name, query, { method = "GET" } = {}) {
    Object.assign(this, { path, name, query, method, cursor: null, isDone: false, first: null });
  }

  async next(signal) {
    if (this.isDone) return [];
    const fields = { ...this.query, ...(this.cursor ? { cursor: this.cursor } : {}) };
    const options = this.method === "GET" ? { query: fields, signal } : { body: fields, signal };
    const page = await call(this.method, this.path, options);
    this.first ??= page;
    this.cursor = page.next_cursor;
    this.isDone = !page.next_cursor;
    return page[this.name];
  }

  /** The items of all pages, up to a number of them. */
  async all(most, signal) {
    const items = [];
    while (!this.isDone && items.length < most) items.push(...(await this.next(signal)));
    return items;
  }
}
