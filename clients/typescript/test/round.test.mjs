// Against a running service: MEMORY_URL, and MEMORY_KEY where it wants one.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { createMemoryCoreClient, pages, ProblemError, unwrap, waitForTask } from "../dist/index.js";

const options = { baseUrl: process.env.MEMORY_URL, ...(process.env.MEMORY_KEY && { apiKey: process.env.MEMORY_KEY }) };
const client = createMemoryCoreClient(options);
const user = `ts-${randomUUID()}`;

test("what is told is found again", async () => {
  const messages = [
    { role: "user", content: "I moved to Lisbon in May." },
    { role: "assistant", content: "How do you like it?" },
  ];
  const told = await unwrap(client.POST("/api/v1/memories", { body: { user_id: user, session_id: "monday", messages } }));
  const task = await waitForTask(client, user, told.task_id);
  assert.equal(task.status, "succeeded");
  const query = "Where did I move to?";
  const { context } = await unwrap(client.POST("/api/v1/context", { body: { user_id: user, query } }));
  assert.match(context, /Lisbon/);
  const { results } = await unwrap(client.POST("/api/v1/memories/retrieve", { body: { user_id: user, query } }));
  assert.ok(results.length > 0);
});

test("all pages of a list are gone through once", async () => {
  const other = `${user}-pages`;
  const memories = Array.from({ length: 7 }, (_, number) => ({ type: "episodic", content: `Note number ${number}.` }));
  await unwrap(client.POST("/api/v1/memories/bulk", { body: { user_id: other, memories } }));
  const list = (cursor) =>
    unwrap(client.GET("/api/v1/memories", { params: { query: { user_id: other, limit: 3, ...(cursor && { cursor }) } } }));
  const seen = [];
  for await (const page of pages(list)) seen.push(...page.memories.map((memory) => memory.content));
  assert.equal(new Set(seen).size, 7);
  assert.equal(seen.length, 7);
});

test("a refusal is an error that says what is wrong", async () => {
  const asked = unwrap(client.POST("/api/v1/context", { body: { user_id: user, query: "a", max_tokens: -1 } }));
  await assert.rejects(asked, (error) => error instanceof ProblemError && error.status === 422 && /max_tokens|budget|not valid|invalid/i.test(JSON.stringify(error.problem)));
});

test("a call is sent again with its key while the service asks to wait", async () => {
  const keys = [];
  const send = async (request) => {
    keys.push(request.headers.get("Idempotency-Key"));
    return keys.length < 3 ? new Response("{}", { status: 503, headers: { "Retry-After": "0" } }) : fetch(request);
  };
  const stubborn = createMemoryCoreClient({ ...options, fetch: send });
  const memory = { user_id: user, type: "episodic", content: "Saved at the third try." };
  const { memory: saved } = await unwrap(stubborn.POST("/api/v1/memories/save", { body: memory }));
  assert.equal(saved.content, memory.content);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
});

test("it gives up after as many tries as it may", async () => {
  let sent = 0;
  const send = async () => (sent++, new Response(JSON.stringify({ title: "Busy" }), { status: 429, headers: { "Retry-After": "0", "Content-Type": "application/json" } }));
  const asked = unwrap(createMemoryCoreClient({ ...options, tries: 2, fetch: send }).GET("/health"));
  await assert.rejects(asked, { name: "ProblemError", status: 429 });
  assert.equal(sent, 2);
});
