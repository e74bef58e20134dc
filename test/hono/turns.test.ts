import { afterEach, expect, type MockInstance, test, vi } from "vitest";
import { yieldToEventLoop } from "../../src/core/clock.ts";
import { insight } from "../../src/insight/mod.ts";
import { mcp } from "../../src/mcp/mod.ts";
import { CronTrigger, type Scheduler } from "../../src/mod.ts";
import { setUpRouter } from "./support.ts";

const TOKEN = "c123456789abcdef0123456789abcdef";
const COUNT = 300;
const ids = Array.from({ length: COUNT }, (_, place) => `s${place}`);
const declared = ids.map((id) => ({ id, task: "t", trigger: "0 9 * * *" }));

afterEach(() => {
  vi.restoreAllMocks();
});

/** How often rules are asked something while a call is answered: in all, and at most in one turn of the event loop. */
function questionsIn(
  method: "fireTimes" | "nextMs" | "describe" | "expand",
  call: () => Promise<{ readonly status: number }>,
): Promise<{ all: number; most: number }> {
  return callsIn(vi.spyOn(CronTrigger.prototype, method), call);
}

async function callsIn(
  spy: MockInstance<(...of: never[]) => unknown>,
  call: () => Promise<{ readonly status: number }>,
): Promise<{ all: number; most: number }> {
  spy.mockClear();
  let [most, before, isAnswered] = [0, 0, false];
  const answered = call().finally(() => {
    isAnswered = true;
  });
  while (!isAnswered) {
    most = Math.max(most, spy.mock.calls.length - before);
    before = spy.mock.calls.length;
    await yieldToEventLoop();
  }
  expect((await answered).status).toBe(200);
  const all = spy.mock.calls.length;
  return { all, most: Math.max(most, all - before) };
}

async function withSchedules(add: (scheduler: Scheduler) => Promise<unknown> = addAll) {
  const setup = setUpRouter({ insight: insight({ calendar: { tokens: [TOKEN] } }), mcp: mcp() });
  setup.scheduler.task("t", () => {});
  await add(setup.scheduler);
  return setup;
}

const addAll = (scheduler: Scheduler): Promise<unknown> => scheduler.addSchedules(declared);

test("a list of schedules finds the fire times of 16 in a turn, and shows 16", async () => {
  const { ask } = await withSchedules();
  const list = () => ask("GET /schedules?limit=1000&include=next:3,description");
  for (const method of ["fireTimes", "describe"] as const) {
    const { all, most } = await questionsIn(method, list);
    // Each is described twice.
    expect([all >= COUNT, most <= 32]).toEqual([true, true]);
  }
});

test("the numbers of a list are read one page in a turn", async () => {
  const { ask, store } = await withSchedules();
  const spy = vi.spyOn(store, "getSchedules");
  expect(await callsIn(spy, () => ask("GET /schedules?include=total,facets"))).toEqual({ all: 6, most: 1 });
});

test("a calendar has at most 32 events of one turn", async () => {
  const { router } = await withSchedules();
  const calendar = async () => router.request(`https://localhost/calendar.ics?token=${TOKEN}&days=10`);
  const { all, most } = await questionsIn("describe", calendar);
  expect(all).toBeGreaterThanOrEqual(COUNT);
  expect(most).toBeLessThanOrEqual(32);
});

test("a plan compares 16 declarations in a turn, and looks at 16 schedules that go", async () => {
  const adding = await withSchedules(async () => {});
  const plan = { owner: "me", declared };
  const added = await questionsIn("fireTimes", () => adding.ask("POST /plan", plan));
  const removing = await withSchedules((scheduler) =>
    scheduler.addSchedules(declared.map((one) => ({ ...one, labels: { managedBy: "me" } }))),
  );
  const removal = { owner: "me", declared: [] };
  const removed = await questionsIn("fireTimes", () => removing.ask("POST /plan", removal));
  for (const { all, most } of [added, removed]) expect([all, most <= 16]).toEqual([COUNT, true]);
});

test("a preview asks a rule for 16 fire times in a turn", async () => {
  const { ask } = await withSchedules(async () => {});
  const preview = () => ask("POST /triggers/preview", { trigger: "0 9 * * *", limit: 100 });
  const { all, most } = await questionsIn("nextMs", preview);
  expect(all).toBeGreaterThanOrEqual(100);
  expect(most).toBeLessThanOrEqual(20);
});

test("lint over MCP looks at two lines of a crontab in a turn", async () => {
  const { ask } = await withSchedules(async () => {});
  const crontab = ids.map((_, place) => `${place % 60} 2 * * 0 x`).join("\n");
  const params = { name: "lint", arguments: { crontab, timeZone: "Europe/Berlin" } };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const accept = { accept: "application/json, text/event-stream" };
  const { all, most } = await questionsIn("expand", () => ask("POST /mcp", body, accept));
  expect(all).toBeGreaterThanOrEqual(2 * COUNT);
  expect(most).toBeLessThanOrEqual(8);
});
