import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunOverlapPolicy, ScheduleAddition, SchedulePlan } from "../../src/contracts.ts";
import { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import {
  commit,
  fireOf,
  look,
  makeSchedule,
  numbered,
  planOf,
  T0,
} from "../../src/testing/data-store-contract/makers.ts";
import { NotingDriver } from "../support/noting-driver.ts";
import { openWithTables } from "./local-stores.ts";

let driver: NotingDriver;
let store: SqlDataStore;

beforeEach(async () => {
  driver = new NotingDriver();
  store = new SqlDataStore(driver);
  await openWithTables(store);
});
afterEach(() => store.close());

/** Plans of due schedules with these policies. */
async function plansOf(...policies: readonly RunOverlapPolicy[]): Promise<SchedulePlan[]> {
  const schedules = policies.map((overlap, index) => makeSchedule({ id: numbered("s", index), overlap }));
  await store.addSchedules(schedules.map((schedule) => ({ schedule, conflictPolicy: "error" })));
  const { due } = await look(store, { schedules: {} });
  return due.map((schedule) => {
    const { overlap: policy } = schedule;
    return planOf(schedule, policy === "queue" ? {} : { overlap: { policy, passed: 0, lastPassedTime: null } });
  });
}

async function statementsOf(plans: readonly SchedulePlan[]): Promise<number> {
  driver.sent.length = 0;
  const { plans: reports } = await commit(store, { plans });
  expect(reports.map(({ committed }) => committed)).toEqual(plans.map(() => true));
  return driver.sent.length;
}

describe("a commit", () => {
  test("has no statement more for schedules whose jobs queue", async () => {
    const statements = await statementsOf(await plansOf("queue"));
    expect(statements).toBe(6);
    expect(driver.sent.filter(({ sql }) => sql.includes("overlap_note"))).toEqual([]);
  });

  test.each([
    [["skip"], 9],
    [["replaceQueued"], 11],
    [["cancelRunning"], 12],
    [["skip", "skip", "replaceQueued", "cancelRunning", "cancelRunning"], 12],
    [["queue", "skip"], 10],
  ] as const)("has a few more for policies %j, however many schedules there are", async (policies, count) => {
    expect(await statementsOf(await plansOf(...policies))).toBe(count);
  });

  test("tells in its repetition what it skipped, where the first answer got lost", async () => {
    const [plan] = await plansOf("skip");
    await commit(store, { limit: 0, plans: plan === undefined ? [] : [plan] });
    const [due] = (await look(store, { schedules: { dueBy: T0 + 1000 } })).due;
    if (due === undefined) throw new Error("the schedule is not due");
    const overlap = { policy: "skip", passed: 3, lastPassedTime: T0 + 900 } as const;
    const fires = [fireOf(due.id, T0 + 1000, { jobId: "second" })];
    driver.losesNext = true;
    const report = await commit(store, { now: T0 + 1000, plans: [planOf(due, { overlap, fires })] });
    expect(report.plans).toEqual([
      { committed: true, addedJobIds: [], overlap: { isSkipped: true, replaced: [], cancelRequested: [] } },
    ]);
    expect((await store.getSchedule(due.id))?.skippedCount).toBe(4);
  });
});

describe("an addition of a schedule whose answer is lost", () => {
  async function changeOf(addition: ScheduleAddition): Promise<string | undefined> {
    driver.losesNext = true;
    const report = await store.addSchedules([addition]);
    return report.conflicts === null ? report.results[0]?.change : undefined;
  }

  test("is told as what its first try did, so that somebody hears of it", async () => {
    const first = makeSchedule({ declaration: "a", fence: 11 });
    expect(await changeOf({ schedule: first, conflictPolicy: "update" })).toBe("added");
    const second = makeSchedule({ declaration: "b", fence: 99 });
    expect(await changeOf({ schedule: second, conflictPolicy: "update" })).toBe("updated");
    expect((await store.getSchedule("schedule"))?.fence).toBe(12);
    const other = makeSchedule({ id: "other", fence: 13 });
    expect(await changeOf({ schedule: other, conflictPolicy: "doNothing" })).toBe("added");
    expect(await changeOf({ schedule: { ...other, fence: 14 }, conflictPolicy: "doNothing" })).toBe("kept");
  });
});
