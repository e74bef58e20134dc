import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { CompiledCron } from "../../src/cron/compiled-cron.ts";
import { kernel } from "../../src/cron/kernel.ts";
import { parseCrontab } from "../../src/cron/parse.ts";

const ROUNDS = 20;
const SPECS = 10_000;
const SPEC_BYTES = 128;

test("specs that are collected give their memory back", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const kept: CompiledCron[] = [];
  const make = (): void => {
    for (let index = 0; index < SPECS; index++) {
      const text = `${index % 60} ${index % 24} ${1 + (index % 28)} * *`;
      const cron = new CompiledCron(parseCrontab(text, { timeZone: "UTC", dst: "auto", dayMatch: "or" }));
      if (index === 5000) kept.push(cron);
    }
  };
  make();
  const answers = kept.map((cron) => cron.nextMs(0));
  const before = kernel.memory.buffer.byteLength;
  for (let round = 0; round < ROUNDS; round++) {
    make();
    collect();
    // Finalizers run in a task of their own.
    await pause(5);
  }
  // Without collection, 200,000 specs take 25 MB. Some rounds may pass before the first finalizers run.
  expect(kernel.memory.buffer.byteLength - before).toBeLessThan((ROUNDS * SPECS * SPEC_BYTES) / 4);
  // What is kept was neither freed nor written over.
  expect(kept.slice(0, 1).map((cron) => cron.nextMs(0))).toEqual(answers);
  expect(new Set(kept.map(({ address }) => address)).size).toBe(kept.length);
});
