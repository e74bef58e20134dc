import { expect, test } from "vitest";
import { OptionsError, PayloadError, StoreRefusedError } from "../../src/mod.ts";
import { rejectionOf, setUp } from "./support.ts";

test("a job for the application's own transaction needs a store in a database", async () => {
  const { scheduler } = setUp();
  scheduler.task("t", () => {});
  const refusal = await rejectionOf(scheduler.prepareJob("t"));
  expect(refusal).toBeInstanceOf(StoreRefusedError);
  expect((refusal as Error).message).toBe(
    "prepareJob() needs a store in a database that the application writes to as well; a MemoryDataStore has no such " +
      "database. Use LibsqlDataStore or SqliteDataStore, or addJob()",
  );
});

test("options and payloads of a prepared job are checked as those of an added one", async () => {
  const { scheduler } = setUp();
  const schema = {
    "~standard": { version: 1, vendor: "test", validate: () => ({ issues: [{ message: "no" }] }) },
  } as const;
  scheduler.task("strict", { schema }, () => {});
  expect(await rejectionOf(scheduler.prepareJob("strict", { payload: 1 }))).toBeInstanceOf(PayloadError);
  const refusal = await rejectionOf(scheduler.prepareJob("strict", { priorty: 1 } as object));
  expect(refusal).toBeInstanceOf(OptionsError);
  expect((refusal as Error).message).toBe('prepareJob(): priorty is no option; did you mean "priority"?');
});
