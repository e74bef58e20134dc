import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { apply, type DeclaredSchedule, declaredSchema, insight, type Plan, plan } from "../../src/insight/mod.ts";
import {
  IntervalTrigger,
  MaxIterationsReachedError,
  MemoryDataStore,
  OptionsError,
  RevisionConflictError,
  type Schedule,
  Scheduler,
} from "../../src/mod.ts";
import { RRuleTrigger } from "../../src/rrule/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { setUpBehindRouter } from "../client/support.ts";
import { setUpRouter } from "../hono/support.ts";
import { START, setUp } from "../scheduler/support.ts";

const owner = "billing";
const report: DeclaredSchedule = { id: "report", task: "t", trigger: "0 9 * * *" };

function withTask(): ReturnType<typeof setUp> {
  const parts = setUp();
  parts.scheduler.task("t", () => {});
  return parts;
}

async function applied(scheduler: Scheduler, declared: readonly DeclaredSchedule[]): Promise<Plan> {
  return apply(await plan(scheduler, declared, { owner }));
}

const idsOf = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);

describe("a plan", () => {
  test("says what would be added, changed and removed, with the next fires, and changes nothing", async () => {
    const { scheduler } = withTask();
    await applied(scheduler, [report, { ...report, id: "old" }, { ...report, id: "same" }]);
    await scheduler.addSchedule("t", "0 5 * * *", { id: "of nobody" });
    const before = JSON.stringify(await scheduler.getSchedules());
    const declared = [
      { ...report, trigger: "30 9 * * *", priority: 3 },
      { ...report, id: "same" },
      { id: "new", task: "t", trigger: { every: "6h" } },
    ];
    const found = await plan(scheduler, declared, { owner, nextFires: 2 });
    expect(JSON.parse(JSON.stringify(found))).toEqual({
      owner,
      revision: expect.stringMatching(/^[0-9a-f]{16}$/),
      added: [
        {
          ...{ id: "new", taskId: "t", renamedFrom: null, options: [], before: [] },
          after: ["2030-01-01T00:00:00Z", "2030-01-01T06:00:00Z"],
        },
      ],
      changed: [
        {
          ...{ id: "report", taskId: "t", renamedFrom: null, options: ["trigger", "priority"] },
          before: ["2030-01-01T09:00:00Z", "2030-01-02T09:00:00Z"],
          after: ["2030-01-01T09:30:00Z", "2030-01-02T09:30:00Z"],
        },
      ],
      removed: [
        {
          ...{ id: "old", taskId: "t", renamedFrom: null, options: [], after: [] },
          before: ["2030-01-01T09:00:00Z", "2030-01-02T09:00:00Z"],
        },
      ],
      unchanged: ["same"],
      herds: [],
      text: [
        "Plan of billing: 1 to add, 1 to change, 1 to remove, 1 unchanged.",
        "+ new, task t",
        "    then: 2030-01-01T00:00:00Z, 2030-01-01T06:00:00Z",
        "~ report, task t: trigger, priority",
        "    now: 2030-01-01T09:00:00Z, 2030-01-02T09:00:00Z",
        "    then: 2030-01-01T09:30:00Z, 2030-01-02T09:30:00Z",
        "- old, task t",
        "    now: 2030-01-01T09:00:00Z, 2030-01-02T09:00:00Z",
      ].join("\n"),
    });
    expect(found.hasChanges).toBe(true);
    expect(JSON.stringify(await scheduler.getSchedules())).toBe(before);
  });

  test("is Markdown, in which no id breaks the table", async () => {
    const { scheduler } = withTask();
    const { markdown } = await plan(scheduler, [{ ...report, id: "a|`b`" }], { owner, nextFires: 1 });
    expect(markdown.split("\n")).toEqual([
      "**Plan of `billing`**: 1 to add, 0 to change, 0 to remove, 0 unchanged.",
      "",
      "| | Schedule | Fired next | Fires next |",
      "|---|---|---|---|",
      "| added | `a\\|'b', task t` |  | 2030-01-01T09:00:00Z |",
    ]);
  });

  test("names the herds that would arise", async () => {
    const { scheduler } = withTask();
    for (let index = 0; index < 9; index++) await scheduler.addSchedule("t", "0 6 * * *", { id: `s${index}` });
    const few = await plan(scheduler, [{ ...report, trigger: "0 7 * * *" }], { owner });
    expect(few.herds).toEqual([]);
    const { herds } = await plan(scheduler, [{ ...report, trigger: "0 6 * * *" }], { owner });
    expect(JSON.parse(JSON.stringify(herds))).toEqual([{ from: "2030-01-01T06:00:00Z", before: 9, after: 10 }]);
    const noon = Array.from({ length: 12 }, (_, id) => ({ id: `noon ${id}`, task: "t", trigger: "0 12 * * *" }));
    const found = await plan(scheduler, noon, { owner, nextFires: 0 });
    expect(JSON.parse(JSON.stringify(found.herds))).toEqual([{ from: "2030-01-01T12:00:00Z", before: 0, after: 12 }]);
    expect(found.text.split("\n").at(-1)).toBe(
      "! 12 jobs begin in the minute from 2030-01-01T12:00:00Z on, of which 0 do now",
    );
  });

  test("sees what others have edited, by hand too", async () => {
    const { scheduler } = withTask();
    await applied(scheduler, [report]);
    await scheduler.updateSchedule("report", { priority: 7 });
    const { changed } = await plan(scheduler, [report], { owner });
    expect(changed.map(({ id, options }) => [id, options])).toEqual([["report", ["priority"]]]);
    await applied(scheduler, [report]);
    expect((await scheduler.getSchedule("report")).priority).toBe(0);
    expect((await plan(scheduler, [report], { owner })).hasChanges).toBe(false);
  });

  test("changes a pause only where it is declared", async () => {
    const { scheduler } = withTask();
    await applied(scheduler, [report]);
    await scheduler.pauseSchedule("report");
    expect((await plan(scheduler, [report], { owner })).unchanged).toEqual(["report"]);
    const { changed } = await applied(scheduler, [{ ...report, paused: false }]);
    expect(changed.map(({ options }) => options)).toEqual([["paused"]]);
    expect((await scheduler.getSchedule("report")).paused).toBe(false);
  });

  test("never touches what has another owner, or none", async () => {
    const { scheduler } = withTask();
    await scheduler.addSchedule("t", "@hourly", { id: "report" });
    await expect(plan(scheduler, [report], { owner })).rejects.toThrow(/which nobody owns; to hand it over/);
    await scheduler.updateSchedule("report", { labels: { managedBy: "other" } });
    await expect(plan(scheduler, [report], { owner })).rejects.toThrow(/which "other" owns/);
    await scheduler.updateSchedule("report", { labels: { managedBy: owner } });
    expect(idsOf((await plan(scheduler, [report], { owner })).changed)).toEqual(["report"]);
    expect(idsOf((await plan(scheduler, [], { owner: "other" })).removed)).toEqual([]);
  });

  test.each([
    [{}, /declared must be|takes a list of at most 1000/],
    [[report, report], /"report" comes twice/],
    [[{ ...report, renamedFrom: "report" }], /comes twice/],
    [[{ ...report, triger: "x" }], /triger is no option/],
    [[{ ...report, trigger: 5 }], /trigger must be a trigger, crontab text/],
    [[{ ...report, trigger: { every: "soon" } }], /every/],
    [[{ ...report, trigger: "0 25 * * *" }], /hour "25" is outside/],
    [[{ ...report, task: "unknown" }], /no task "unknown"/],
    [[{ ...report, conflictPolicy: "error" }], /conflictPolicy is no part of a declaration/],
    [[{ ...report, labels: { managedBy: "me" } }], /must leave out managedBy/],
    [[{ ...report, id: "" }], /declared\[0\]\.id/],
    [[null], /declared\[0\]/],
    [Array.from({ length: 1001 }, (_, id) => ({ ...report, id: `${id}` })), /at most 1000/],
    [[{ ...report, trigger: { type: "and", triggers: [] } }], /and|triggers/],
  ])("refuses %j", async (declared, message) => {
    const { scheduler } = withTask();
    await expect(plan(scheduler, declared as never, { owner })).rejects.toThrow(message);
    expect((await scheduler.getSchedules()).items).toEqual([]);
  });

  test("refuses declarations whose fire times take too long, one by one or all together", async () => {
    const { scheduler } = withTask();
    const start = "DTSTART:20300101T000000Z\nRRULE:FREQ=";
    const never = new RRuleTrigger(`${start}SECONDLY;BYMONTH=2;BYMONTHDAY=30`);
    await expect(plan(scheduler, [{ ...report, trigger: never }], { owner })).rejects.toThrow(
      MaxIterationsReachedError,
    );
    const seldom = new RRuleTrigger(`${start}DAILY;INTERVAL=7;BYMONTH=2;BYMONTHDAY=29;BYDAY=TU`);
    const many = Array.from({ length: 1000 }, (_, index) => ({ ...report, id: `s${index}`, trigger: seldom }));
    expect((await plan(scheduler, many.slice(0, 3), { owner })).added).toHaveLength(3);
    await expect(plan(scheduler, many, { owner })).rejects.toThrow(/take more than 1000000 steps; take fewer of them/);
  });

  test("refuses what is no scheduler, no owner and no plan", async () => {
    const { scheduler } = withTask();
    await expect(plan({} as never, [], { owner })).rejects.toThrow(/scheduler must be a scheduler, or what connect/);
    await expect(plan(scheduler, [], { owner: "" })).rejects.toThrow(OptionsError);
    await expect(apply({ revision: "x" } as never)).rejects.toThrow(/must be a plan as plan\(\) returned it/);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(plan(scheduler, [], { owner, signal })).rejects.toThrow("enough");
  });

  test("has a JSON Schema of its declarations", () => {
    const { type, items } = declaredSchema() as { type: string; items: Record<string, unknown> };
    expect(type).toBe("array");
    expect(items).toMatchObject({
      additionalProperties: false,
      required: expect.arrayContaining(["id", "task", "trigger"]),
    });
    expect(JSON.stringify(items)).not.toContain("#/components");
  });
});

describe("a plan that is applied", () => {
  test("does all of it in one commit, and tells listeners", async () => {
    const { scheduler, store } = withTask();
    await applied(scheduler, [report, { ...report, id: "old" }]);
    const heard: string[] = [];
    const types = ["scheduleAdded", "scheduleUpdated", "scheduleRemoved"] as const;
    scheduler.subscribe(types, ({ type, scheduleId }) => void heard.push(`${type} ${scheduleId}`));
    let writes = 0;
    const write = store.commitSchedules.bind(store);
    store.commitSchedules = (...args) => {
      writes++;
      return write(...args);
    };
    const made = await plan(
      scheduler,
      [
        { ...report, priority: 2 },
        { ...report, id: "new" },
      ],
      { owner },
    );
    await apply(made, { by: "deploy 42" });
    expect(writes).toBe(1);
    expect(idsOf((await scheduler.getSchedules()).items)).toEqual(["new", "report"]);
    expect(heard.sort()).toEqual(["scheduleAdded new", "scheduleRemoved old", "scheduleUpdated report"]);
    const { items } = await scheduler.getScheduleChanges("report");
    expect(items[0]).toMatchObject({ by: "deploy 42", kind: "changed" });
    expect((await scheduler.getSchedule("new")).labels).toEqual({ managedBy: owner });
  });

  test("is refused when a schedule was changed, added or removed since", async () => {
    const { scheduler } = withTask();
    await applied(scheduler, [report, { ...report, id: "other" }]);
    const others: ((made: Plan) => Promise<unknown>)[] = [
      () => scheduler.updateSchedule("report", { priority: 1 }),
      () => scheduler.pauseSchedule("other"),
      () => scheduler.removeSchedule("other"),
      () => scheduler.addSchedule("t", "@daily", { id: "new", labels: { managedBy: owner } }),
    ];
    for (const change of others) {
      const made = await plan(
        scheduler,
        [
          { ...report, priority: 5 },
          { ...report, id: "new" },
        ],
        { owner },
      );
      await change(made);
      const before = JSON.stringify(await scheduler.getSchedules());
      await expect(apply(made)).rejects.toThrow(RevisionConflictError);
      expect(JSON.stringify(await scheduler.getSchedules())).toBe(before);
    }
  });

  test("counts once where two processes apply at the same time", async () => {
    const { scheduler, store, clock } = withTask();
    await applied(scheduler, [report]);
    const second = new Scheduler({ dataStore: store, clock, identity: "second" });
    second.task("t", () => {});
    const plans = await Promise.all(
      [scheduler, second].map((one, priority) => {
        return plan(
          one,
          [
            { ...report, priority: priority + 1 },
            { ...report, id: "new", priority },
          ],
          { owner },
        );
      }),
    );
    const ends = await Promise.allSettled(plans.map((made) => apply(made)));
    expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const lost = ends.find((end) => end.status === "rejected");
    expect(lost?.reason).toBeInstanceOf(RevisionConflictError);
    expect(String(lost?.reason)).toMatch(/plan again/);
    await second.stop();
  });

  test("is not refused because a schedule fired", async () => {
    const { scheduler, clock } = withTask();
    await applied(scheduler, [report]);
    const made = await plan(scheduler, [{ ...report, priority: 5 }], { owner });
    await scheduler.start();
    await clock.advanceTo("2030-01-01T10:00:00Z");
    await apply(made);
    const { priority, lastFireTime, nextFireTime } = await scheduler.getSchedule("report");
    expect([priority, `${lastFireTime}`, `${nextFireTime}`]).toEqual([
      5,
      "2030-01-01T09:00:00Z",
      "2030-01-02T09:00:00Z",
    ]);
  });

  test("renames a schedule, with its history, its results and its counters", async () => {
    const { scheduler, clock } = withTask();
    await applied(scheduler, [{ ...report, trigger: new IntervalTrigger({ hours: 1 }) }]);
    await scheduler.start();
    await clock.advanceTo("2030-01-01T03:30:00Z");
    const former = await scheduler.getSchedule("report");
    const declared = { ...report, id: "daily", renamedFrom: "report", trigger: new IntervalTrigger({ hours: 1 }) };
    const made = await plan(scheduler, [declared], { owner });
    expect(made.text).toContain("~ daily (now report), task t: id\n    fires next: 2030-01-01T04:00:00Z");
    expect(made.removed).toEqual([]);
    await apply(made);
    await expect(scheduler.getSchedule("report")).rejects.toThrow(/report/);
    const daily = await scheduler.getSchedule("daily");
    const times = ({ nextFireTime, lastFireTime, createdAt }: Schedule) =>
      `${nextFireTime} ${lastFireTime} ${createdAt}`;
    expect(times(daily)).toBe(times(former));
    await clock.advanceTo("2030-01-01T04:30:00Z");
    const { items } = await scheduler.getOccurrences("daily", { order: "oldest" });
    expect(items.map(({ verdict }) => verdict)).toEqual(Array(5).fill("success"));
    expect((await scheduler.getJobResults({ scheduleId: "daily" })).items).toHaveLength(5);
    // Where it is declared on, there is nothing left to rename.
    expect((await plan(scheduler, [declared], { owner })).hasChanges).toBe(false);
  });

  test("refuses a rename onto a schedule that is there", async () => {
    const { scheduler } = withTask();
    await applied(scheduler, [report, { ...report, id: "daily" }]);
    const declared = [{ ...report, id: "daily", renamedFrom: "report" }];
    await expect(plan(scheduler, declared, { owner })).rejects.toThrow(/both are there/);
  });

  test("is that of a revision, where one is given", async () => {
    const { scheduler } = withTask();
    const made = await plan(scheduler, [report], { owner });
    await expect(apply(made, { ifRevision: "another" })).rejects.toThrow(RevisionConflictError);
    await apply(made, { ifRevision: made.revision });
    expect(idsOf((await scheduler.getSchedules()).items)).toEqual(["report"]);
  });
});

test("whatever is declared, a plan that is applied leaves nothing to do, and others as they were", async () => {
  const declaration = fc.record({
    id: fc.constantFrom("a", "b", "c", "d"),
    task: fc.constant("t"),
    trigger: fc.constantFrom("0 9 * * *", "H H * * *", { every: "90m" }, { at: "2031-01-01T00:00:00Z" }),
    priority: fc.integer({ min: 0, max: 2 }),
    payload: fc.constantFrom(null, { x: 1 }),
    renamedFrom: fc.constantFrom(undefined, "e", "f"),
  });
  const list = fc.uniqueArray(declaration, { selector: ({ id }) => id });
  await fc.assert(
    fc.asyncProperty(fc.array(list, { minLength: 1, maxLength: 3 }), async (lists) => {
      const scheduler = new Scheduler({ dataStore: new MemoryDataStore(), clock: new VirtualClock(START) });
      scheduler.task("t", () => {});
      await scheduler.addSchedule("t", "@daily", { id: "other" });
      for (const one of lists) {
        const declared = one.filter(
          ({ renamedFrom }, place) => one.findIndex((other) => other.renamedFrom === renamedFrom) === place,
        ) as DeclaredSchedule[];
        await applied(scheduler, declared);
        expect((await plan(scheduler, declared, { owner })).hasChanges).toBe(false);
        const ids = [...idsOf(declared), "other"].sort();
        expect(idsOf((await scheduler.getSchedules()).items)).toEqual(ids);
      }
      await scheduler.stop();
    }),
    { numRuns: 30 },
  );
});

describe("over HTTP", () => {
  test("a plan is made and applied, and the routes are there with an insight alone", async () => {
    const { ask, scheduler } = setUpRouter({ insight: insight() });
    scheduler.task("t", () => {});
    const body = { owner, declared: [{ id: "report", task: "t", trigger: { every: "6h" } }] };
    const planned = await ask("POST /plan", body);
    expect(planned).toMatchObject({ status: 200, body: { added: [{ id: "report" }], changed: [], removed: [] } });
    const { revision } = planned.body as { revision: string };
    expect(await ask("POST /apply", { ...body, revision: "another" })).toMatchObject({
      status: 412,
      body: { code: "revisionConflict" },
    });
    expect(await ask("POST /apply", { ...body, revision })).toMatchObject({ status: 200, body: { revision } });
    expect(await ask("POST /apply", { ...body, revision })).toMatchObject({ status: 412 });
    expect(await ask("POST /plan", { ...body, declared: [{ id: "x" }] })).toMatchObject({ status: 422 });
    expect(idsOf((await scheduler.getSchedules()).items)).toEqual(["report"]);
    const without = setUpRouter();
    expect(await without.ask("POST /plan", body)).toMatchObject({ status: 404 });
  });

  test("a client makes and applies plans as beside a scheduler", async () => {
    const { client, scheduler } = setUpBehindRouter({}, { insight: insight() });
    const task = scheduler.task("t", () => {});
    const declared = [
      { ...report, task, trigger: new IntervalTrigger({ hours: 6 }), misfireGraceTime: { minutes: 5 } },
    ];
    const [near, far] = await Promise.all([plan(scheduler, declared, { owner }), plan(client, declared, { owner })]);
    expect(far.toJSON()).toEqual(near.toJSON());
    expect(far.text).toBe(near.text);
    await apply(far);
    expect(`${(await scheduler.getSchedule("report")).misfireGraceTime}`).toBe("PT5M");
    await expect(apply(near)).rejects.toThrow(RevisionConflictError);
    await expect(apply(far)).rejects.toThrow(RevisionConflictError);
    await expect(plan(client, [{ ...report, trigger: "x" }], { owner })).rejects.toThrow(/x/);
  });
});
