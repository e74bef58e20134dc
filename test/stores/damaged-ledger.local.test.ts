import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Scheduler } from "../../src/mod.ts";
import type { SqlDriver } from "../../src/stores/sql/driver/driver-and-failures.ts";
import { SqlDataStore as Store } from "../../src/stores/sql/sqlite/store.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { LOCAL_STORES, rowsOf } from "./local-stores.ts";

// What a scheduler tells of changes and uptimes whose rows somebody edited by hand.

const RAN = "2030-01-01T02:00:00Z";
const WAITS = "2030-01-01T05:00:00Z";

for (const { name, whyMissing, driver: makeDriver } of LOCAL_STORES) {
  if (whyMissing !== null) {
    test(`${name} and damaged rows of the ledger`, ({ skip }) => skip(whyMissing));
    continue;
  }
  describe(`in ${name}`, () => {
    let driver: SqlDriver;
    let scheduler: Scheduler;

    beforeEach(async () => {
      driver = makeDriver(":memory:");
      const clock = new VirtualClock("2030-01-01T00:30:00Z");
      const store = new Store(driver);
      scheduler = new Scheduler({ clock, dataStore: store, identity: "w-1", logLevel: "silent" });
      const ran = scheduler.task("ran", () => {});
      await scheduler.addSchedule(ran, "0 * * * *", { id: "s" });
      await clock.advance({ hours: 2 });
      await scheduler.tick();
      await scheduler.updateSchedule("s", { priority: 1 }, { by: "ada" });
      await scheduler.pauseTask("ran", { by: "bob" });
      await scheduler.unpauseTask("ran", { by: "bob" });
      await clock.advance({ hours: 2, minutes: 30 });
      const firing = new Scheduler({ clock, dataStore: store, identity: "w-2", role: "scheduler", logLevel: "silent" });
      await firing.tick();
      await clock.advance({ minutes: 1 });
      // A worker without a handler for the task, which is up since then.
      await rowsOf(driver, "UPDATE escapement_uptimes SET until = until + 86400000, tasks = '[\"other\"]'");
    });
    afterEach(() => scheduler[Symbol.asyncDispose]());

    /** The verdicts on a run and on a waiting job, with the names of those who changed the schedule. */
    async function told(): Promise<unknown[]> {
      const [ran, waits] = [await scheduler.explain("s", RAN), await scheduler.explain("s", WAITS)];
      const { items } = await scheduler.getScheduleChanges("s", { order: "oldest" });
      const { items: occurrences } = await scheduler.getOccurrences("s");
      for (const one of [ran, waits, ...items, ...occurrences]) JSON.stringify(one);
      for (const { before, after } of items) void [before?.nextFireTimes, after?.nextFireTimes];
      void [ran.before, ran.after, ran.cause, waits.cause];
      return [ran.verdict, waits.verdict, items.map(({ by }) => by)];
    }

    const texts = ["5", "[]", '"text"', "{", "{}", '{"trigger":5}', '{"trigger":"{}","taskId":"t","nextFireTime":"x"}'];
    const states = [
      ...texts.map((text) => `'${text}'`),
      "x'6162'",
      "json_set(latter, '$.nextFireTime', 1.5)",
      "json_set(latter, '$.nextFireTime', 1e300)",
      "json_set(latter, '$.taskId', json('{}'))",
      "json_remove(latter, '$.settings', '$.metadata', '$.paused')",
    ];
    const numbers = ["'soon'", "x'6162'", "1.5", "9e999", "-9223372036854775808"];
    const damages = [
      ...["former", "latter"].flatMap((column) => states.map((value) => [column, value] as const)),
      ...["at", "effective_from"].flatMap((column) => numbers.map((value) => [column, value] as const)),
      ["effective_from", "NULL"] as const,
      ["kind", "'unheard of'"] as const,
      ["kind", "x'6162'"] as const,
    ];
    for (const [column, value] of damages) {
      test(`${value} in the column ${column} of a change hides no run, and stops no list`, async () => {
        expect(await told()).toEqual(["success", "waiting", ["w-1", "ada"]]);
        await rowsOf(
          driver,
          `UPDATE escapement_changes SET ${column} = ${value} WHERE kind IN ('changed', 'taskPaused')`,
        );
        expect(await told()).toEqual(["success", "waiting", ["w-1", "ada"]]);
      });
    }

    for (const tasks of ["{}", "null", "5", '"ran"', "[5,null]", "["]) {
      test(`${tasks} in the column tasks of an uptime names no task`, async () => {
        await rowsOf(driver, `UPDATE escapement_uptimes SET tasks = '${tasks}'`);
        expect((await scheduler.explain("s", WAITS)).cause).toEqual({ kind: "noHandler", taskId: "ran" });
      });
    }
  });
}
