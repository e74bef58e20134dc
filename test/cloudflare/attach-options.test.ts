import { expect, test } from "vitest";
import { type AttachOptions, attachScheduler, type ObjectContext } from "../../src/cloudflare/mod.ts";

/** A context that is never used, because the options are refused first. */
const context: ObjectContext = { storage: {} as never, blockConcurrencyWhile: (run) => run() };

function messageOf(...args: readonly unknown[]): string {
  try {
    attachScheduler(...(args as [ObjectContext, () => void, AttachOptions]));
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

test.each([
  ["a storage in the place of the context", [{ getAlarm() {} }, () => {}], "the context of a Durable Object (ctx)"],
  ["no function", [context, {}], "a function (scheduler) => void that registers the tasks"],
  ["an unknown option", [context, () => {}, { ticks: {} }], "ticks"],
  ["a tick longer than an alarm", [context, () => {}, { tick: { maxDuration: "16m" } }], "at most 15 minutes"],
  ["options of a scheduler in the wrong place", [context, () => {}, { timeZone: "UTC" }], "timeZone"],
])("attachScheduler refuses %s", (_, args, message) => {
  expect(messageOf(...args)).toContain(message);
  expect(messageOf(...args)).toContain("attachScheduler()");
});
