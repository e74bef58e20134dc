import { describe, expect, test } from "vitest";
import { OptionsError, type Scheduler, type SchedulerClient } from "../../src/mod.ts";
import { setUpBehindRouter } from "../client/support.ts";
import { rejectionOf, setUp } from "./support.ts";

type Call = (options: object) => unknown;

/** What only reads, and the options that each takes. */
const READING: Readonly<Record<string, readonly string[]>> = {
  getTasks: ["labels"],
  getSchedules: ["labels", "ids", "taskId", "paused", "state", "search", "sort", "include", "limit", "cursor"],
  getJobs: [
    ...["labels", "taskId", "scheduleId", "backfillId", "state", "from", "until", "search", "sort", "order"],
    ...["include", "limit", "cursor"],
  ],
  getJobResults: [
    ...["labels", "taskId", "scheduleId", "outcome", "from", "until", "order", "search", "limit", "cursor"],
  ],
  getRuns: [
    ...["labels", "taskId", "scheduleId", "state", "outcome", "error", "key", "minRunTime", "maxRunTime"],
    ...["minAttempts", "from", "until", "search", "include", "limit", "cursor"],
  ],
  getFailures: ["groupBy", "taskId", "scheduleId", "from", "until", "limit"],
  getStats: ["from", "until", "bucket", "by", "taskId", "scheduleId", "limit"],
};
/** The same of one schedule. */
const OF_ONE: Readonly<Record<string, readonly string[]>> = {
  getOccurrences: ["from", "until", "verdict", "order", "limit", "cursor"],
  getScheduleChanges: ["order", "limit", "cursor"],
};
/** What writes or removes what a selection names. */
const WRITING: Readonly<Record<string, readonly string[]>> = {
  pauseSchedules: ["labels", "ids", "taskId", "paused"],
  unpauseSchedules: ["labels", "ids", "taskId", "paused"],
  removeSchedules: ["labels", "ids", "taskId", "paused"],
  cancelJobs: ["labels", "ids", "taskId", "scheduleId", "backfillId"],
  retryJobs: ["labels", "ids", "taskId", "scheduleId", "outcome", "from", "until", "failureKey"],
  removeJobResults: ["labels", "ids", "taskId", "state", "outcome", "error", "key", "minAttempts", "search", "from"],
};

const SIDES: readonly (readonly [name: string, make: () => { client: SchedulerClient; scheduler: Scheduler }])[] = [
  [
    "a scheduler",
    () => {
      const { scheduler } = setUp();
      return { client: scheduler, scheduler };
    },
  ],
  ["a client of a router", () => setUpBehindRouter()],
];

describe.each(SIDES)("of %s", (_name, make) => {
  async function filled(): Promise<SchedulerClient> {
    const { client, scheduler } = make();
    scheduler.task("t", { labels: { team: "a" } }, () => "done");
    await scheduler.addSchedule("t", "0 9 * * *", { id: "s" });
    await scheduler.addJob("t");
    await scheduler.tick();
    await scheduler.addJob("t");
    return client;
  }

  const call = (client: SchedulerClient, verb: string, ...given: unknown[]): unknown =>
    (Reflect.get(client, verb) as (...given: unknown[]) => unknown).apply(client, given);

  test.each([...Object.entries(READING), ...Object.entries(OF_ONE)])(
    "%s takes each option that is undefined for none",
    async (verb, names) => {
      const client = await filled();
      const asks: Call = (options) => call(client, verb, ...(verb in OF_ONE ? ["s"] : []), options);
      const all = JSON.stringify(await asks({}));
      for (const name of names) expect([name, JSON.stringify(await asks({ [name]: undefined }))]).toEqual([name, all]);
      expect(JSON.stringify(await asks(Object.fromEntries(names.map((name) => [name, undefined]))))).toBe(all);
    },
  );

  test("so does what is included, and what is printed", async () => {
    const client = await filled();
    const include = { next: undefined, runs: undefined, stats: undefined, total: undefined, facets: undefined };
    expect(JSON.stringify(await client.getSchedules({ include }))).toBe(JSON.stringify(await client.getSchedules()));
    const counts = { total: true, facets: undefined };
    expect((await client.getJobs({ include: counts })).total).toEqual({ count: 1, isCapped: false });
    const lines: string[] = [];
    const given = { taskId: undefined, paused: undefined, limit: undefined };
    await client.printSchedules({ ...given, write: (line) => void lines.push(line) });
    expect(lines.join()).toContain("s");
  });

  test("an unknown option that is undefined is refused, and a wrong one beside it", async () => {
    const client = await filled();
    for (const filter of [{ taskIdd: undefined }, { taskId: undefined, limit: "x" }]) {
      const error = await rejectionOf((async () => call(client, "getJobs", filter))());
      expect(error).toBeInstanceOf(OptionsError);
    }
  });

  test.each(Object.entries(WRITING))("%s refuses each selection that is undefined", async (verb, names) => {
    const client = await filled();
    for (const name of names) {
      for (const options of [{ [name]: undefined }, { taskId: "t", [name]: undefined }]) {
        const error = await rejectionOf((async () => call(client, verb, options))());
        expect([name, error]).toEqual([name, expect.any(OptionsError)]);
      }
    }
    expect(await client.getSchedule("s")).toMatchObject({ paused: false });
    expect((await client.getJobs()).items.length).toBe(1);
    expect((await client.getJobResults()).items.length).toBe(1);
  });
});
