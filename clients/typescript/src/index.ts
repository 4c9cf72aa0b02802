/**
 * A typed client of Memory Core. The types are generated from its OpenAPI document; what is written by hand
 * is what a document can't say: when to send a call again, how to wait for a task, how to go through pages.
 */
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type { components, operations, paths } from "./schema.js";
export type Schemas = components["schemas"];

export interface ClientOptions {
  /** Where Memory Core answers, such as `http://127.0.0.1:7071`. */
  baseUrl: string;
  /** An API key; none on a laptop. */
  apiKey?: string;
  /** How often a call is sent in all while the service says 429 or 503, or the connection breaks. Default 4. */
  tries?: number;
  /** The longest pause before a call is sent again, in milliseconds. Default 30,000. */
  longestPause?: number;
  /** The fetch to use in place of the global one. */
  fetch?: (request: Request) => Promise<Response>;
}

/** An answer that is no success: the problem document of the service. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  constructor(
    readonly status: number,
    readonly problem: { type?: string; title?: string; detail?: string; correlation_id?: string },
  ) {
    super([problem.title ?? `HTTP ${status}`, problem.detail].filter(Boolean).join(": "));
  }
}

const RETRIED = new Set([429, 503]);
const FIRST_PAUSE = 250;
const READS = new Set(["GET", "HEAD"]);

/**
 * Make a client. Each write gets an `Idempotency-Key` unless it has one, so that it may be sent again.
 */
export function createMemoryCoreClient(options: ClientOptions): Client<paths> {
  const { tries = 4, longestPause = 30_000, fetch: send = (request: Request) => fetch(request) } = options;
  const headers: Record<string, string> = options.apiKey === undefined ? {} : { "X-API-Key": options.apiKey };

  async function sendUntilAnswered(request: Request): Promise<Response> {
    if (!READS.has(request.method) && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", crypto.randomUUID());
    }
    for (let sent = 1; ; sent++) {
      let response: Response | undefined;
      try {
        response = await send(request.clone());
      } catch (error) {
        if (sent >= tries || request.signal.aborted) throw error;
      }
      if (response !== undefined && (!RETRIED.has(response.status) || sent >= tries)) return response;
      await pause(pauseBefore(response, sent, longestPause), request.signal);
    }
  }

  return createClient<paths>({ baseUrl: options.baseUrl.replace(/\/+$/, ""), headers, fetch: sendUntilAnswered });
}

/** How long to wait: what `Retry-After` says, else twice as long each time, with jitter. */
function pauseBefore(response: Response | undefined, sent: number, longest: number): number {
  const told = Number(response?.headers.get("Retry-After") ?? Number.NaN);
  const wanted = Number.isFinite(told) ? told * 1000 : FIRST_PAUSE * 2 ** (sent - 1) * (0.5 + Math.random());
  return Math.min(wanted, longest);
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** The data of an answer. Throws a `ProblemError` where there is none. */
export async function unwrap<Data>(
  answer: Promise<{ data?: Data; error?: unknown; response: Response }>,
): Promise<NonNullable<Data>> {
  const { data, error, response } = await answer;
  if (data === undefined || data === null) throw new ProblemError(response.status, (error ?? {}) as object);
  return data as NonNullable<Data>;
}

export interface WaitOptions {
  /** Give up after so many milliseconds. Default 120,000. */
  timeout?: number;
  signal?: AbortSignal;
}

/** Wait until a task has ended, well or not. Throws when it takes longer than `timeout`. */
export async function waitForTask(client: Client<paths>, userId: string, taskId: string, options: WaitOptions = {}) {
  const ends = Date.now() + (options.timeout ?? 120_000);
  for (let wait = 50; ; wait = Math.min(wait * 1.5, 2_000)) {
    const params = { path: { task_id: taskId }, query: { user_id: userId } };
    const task = await unwrap(client.GET("/api/v1/tasks/{task_id}", { params, ...(options.signal && { signal: options.signal }) }));
    if (["succeeded", "poisoned", "cancelled"].includes(task.status)) return task;
    if (Date.now() + wait > ends) throw new Error(`task ${taskId} is ${task.status} after ${options.timeout ?? 120_000} ms`);
    await pause(wait, options.signal);
  }
}

/**
 * Go through all pages of a list.
 *
 * @param page Asks for the page of a cursor; none for the first.
 */
export async function* pages<Page extends { next_cursor?: string | null }>(
  page: (cursor: string | undefined) => Promise<Page>,
): AsyncGenerator<Page> {
  let cursor: string | undefined;
  do {
    const current = await page(cursor);
    yield current;
    cursor = current.next_cursor ?? undefined;
  } while (cursor !== undefined);
}
