import { expect, test } from "vitest";
import { Progress } from "../../src/cli/progress.ts";
import { systemClock } from "../../src/core/clock.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { call, folderWith, ioWith } from "./support.ts";

/** A progress, and what it wrote last. */
function progressOn(errorTerminal: boolean) {
  const clock = new VirtualClock();
  let text = "";
  const io = ioWith({
    clock,
    errorTerminal,
    onOutput: (more) => {
      text += more;
    },
  });
  const written = (): string => {
    const last = text;
    text = "";
    return last;
  };
  return { progress: new Progress(io, "lines"), clock, written };
}

test("long work shows a bar after a second, and wipes it at its end", async () => {
  const { progress, clock, written } = progressOn(true);
  progress.at(1, 4000);
  expect(written()).toBe("");
  await clock.advance("1s");
  progress.at(2000, 4000);
  expect(written()).toBe("\r[############            ] 2,000/4,000 lines");
  progress.at(2001, 4000);
  expect(written()).toBe("");
  await clock.advance("100ms");
  progress.at(3000, null);
  expect(written()).toBe(`\r${"3,000 lines".padEnd(44)}`);
  progress.end();
  expect(written()).toBe(`\r${" ".repeat(44)}\r`);
});

test("work without a count shows how long it takes, and hands its failure on", async () => {
  const { progress, clock, written } = progressOn(true);
  let fail = (_: Error): void => {};
  const during = progress.during(
    new Promise((_, reject) => {
      fail = reject;
    }),
  );
  await clock.advance("3s");
  expect(written()).toContain("\rlines: 3 s");
  fail(new Error("lost"));
  await expect(during).rejects.toThrow("lost");
  expect(written()).toBe(`\r${" ".repeat(10)}\r`);
});

test("a signal wipes the bar, and no other one comes", async () => {
  const clock = new VirtualClock();
  let text = "";
  const ending = new AbortController();
  const signals = { first: ending.signal, second: ending.signal, isInterrupted: true, onHangUp: () => () => {} };
  const io = ioWith({
    clock,
    signals,
    errorTerminal: true,
    onOutput: (more) => {
      text = more;
    },
  });
  const progress = new Progress(io, "lines");
  await clock.advance("1s");
  progress.at(1, null);
  ending.abort();
  await clock.advance("1s");
  progress.at(2, null);
  expect(text).toBe(`\r${" ".repeat(7)}\r`);
});

test("nothing is shown where the standard error is no terminal", async () => {
  const { progress, clock, written } = progressOn(false);
  await clock.advance("5s");
  progress.at(1, 2);
  progress.end();
  expect(written()).toBe("");
});

test("commands that may last show it, on the standard error alone", async () => {
  await using folder = await folderWith({ crontab: "0 1 * * * a\n".repeat(401) });
  let now = Date.parse("2027-01-01T00:00:00Z");
  const clock = {
    now: () => now,
    sleep: async () => {
      now += 1000;
      await systemClock.yield();
    },
    yield: async () => {
      now += 1000;
      await systemClock.yield();
    },
  };
  const options = { cwd: folder.path, errorTerminal: true, clock };
  const at = (...argv: string[]) => call([...argv, "--store", "file:jobs.db"], options);
  const linted = await call(["lint", "crontab", "--json"], options);
  expect(linted.err.join("\n")).toContain("400/401 lines\r");
  expect(JSON.parse(linted.out.join("\n"))).toMatchObject({ rules: 401 });
  await at("import", "crontab", "--task", "a");
  const id = (JSON.parse((await at("list", "--limit", "1", "--json")).out.join("\n")) as { items: [{ id: string }] })
    .items[0].id;
  const slow = [await at("simulate", "--for", "1h"), await at("backfill", id, "--from", "2h", "--include-unrecorded")];
  expect(slow.map(({ code, out, err }) => [code, out.length > 0, /: \d+ s/.test(err.join("\n"))])).toEqual(
    slow.map(() => [0, true, true]),
  );
});
