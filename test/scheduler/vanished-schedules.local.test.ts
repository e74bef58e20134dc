import { join } from "node:path";
import { createClient } from "@libsql/client";
import { expect, onTestFinished, test } from "vitest";
import { IntervalTrigger, Scheduler } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { recordingLogger } from "./support.ts";

test.each([
  ["a table that somebody emptied is told", "table", 1],
  ["a restored backup without them is told", "backup", 1],
  ["a call that removed them is not", "call", 0],
  ["a call that removed the last one after the others had ended is not", "calls", 0],
] as const)("of schedules that are gone, %s", async (_what, by, told) => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  const url = `file:${join(folder.path, "jobs.db")}`;
  const clock = new VirtualClock("2030-01-01T00:00:00Z");
  const { logger, entries } = recordingLogger();
  const scheduler = new Scheduler({ clock, logger, dataStore: new LibsqlDataStore({ url }) });
  await scheduler.schedule("daily", "@daily", () => {});
  const ending = new IntervalTrigger({ seconds: 1, endTime: "2030-01-01T00:00:05Z" });
  if (by === "calls") await scheduler.schedule("about to end", ending, () => {});
  await scheduler.start();
  await clock.settle();
  if (by === "calls") {
    await clock.advance("PT30S");
    await scheduler.cleanup();
    await expect(scheduler.getSchedule("about to end")).rejects.toThrow("there is no schedule");
  }
  if (by === "call" || by === "calls") {
    const other = new Scheduler({ clock, dataStore: new LibsqlDataStore({ url }) });
    await other.removeSchedule("daily");
    await other.stop();
  } else {
    const client = createClient({ url });
    await client.execute("DELETE FROM escapement_schedules");
    if (by === "backup") await client.execute("DELETE FROM escapement_changes");
    client.close();
  }
  await clock.advance("PT1M");
  await scheduler.stop();
  expect(entries.filter(({ message }) => message.includes("the schedules are gone")).length).toBe(told);
});
