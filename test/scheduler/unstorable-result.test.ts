import { expect, test } from "vitest";
import type { SerializationError } from "../../src/mod.ts";
import { rejectionOf, setUp } from "./support.ts";

test("a return value that cannot be stored is refused as such, with its place", async () => {
  const { scheduler } = setUp();
  scheduler.task("report", () => ({ at: new Date(0) }));
  await scheduler.start();
  const error = (await rejectionOf(scheduler.runJob("report"))) as SerializationError;
  await scheduler.stop();
  expect([error.name, error.message]).toEqual([
    "SerializationError",
    "what the handler returned cannot be stored: an object of class Date at at cannot be carried as JSON without loss; " +
      "convert it, or give the data store a DevalueSerializer",
  ]);
});
