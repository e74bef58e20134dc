import { describe, expect, test } from "vitest";
import { ConflictingIdError, OptionsError } from "../../src/core/errors.ts";
import type { BlackoutRecord } from "../../src/records/blackout.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { makeJob, makeTask, T0 } from "../../src/testing/data-store-contract/makers.ts";
import { exportStore, type ImportOptions, importStore, TransferError } from "../../src/transfer/mod.ts";
import { fill, linesOf, readableSchedule, textOf } from "./samples.ts";

const HEADER = JSON.stringify({ escapement: "store", version: 1, exportedAt: "2030-01-31T09:00:00.000Z" });
const END = JSON.stringify({ end: true });
const TASK = JSON.stringify({ task: makeTask() });

function schedule(fields: Record<string, unknown> = {}): string {
  return JSON.stringify({ schedule: { ...readableSchedule(), ...fields } });
}

const BLACKOUT: BlackoutRecord = {
  ...{ id: "blackout", from: T0, until: T0 + 9, trigger: null, durationMs: null, labels: null, taskIds: null },
  ...{ missed: "skip", reason: "stored", by: null, createdAt: T0 },
};

function blackout(fields: Record<string, unknown> = {}): string {
  return JSON.stringify({ blackout: { ...BLACKOUT, ...fields } });
}

function job(fields: Record<string, unknown> = {}): string {
  return JSON.stringify({ job: { ...makeJob(), ...fields } });
}

function text(...lines: string[]): string {
  return [HEADER, ...lines, END].join("\n");
}

/** What is wrong with a text, as `line: message`. Nothing of it may have been imported. */
async function problemsOf(lines: Parameters<typeof importStore>[1]): Promise<string[]> {
  const store = new MemoryDataStore();
  const error = await importStore(store, lines).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TransferError);
  expect(await textOf(store)).toEqual([`${END}\n`]);
  return error instanceof TransferError ? error.issues.map(({ line, message }) => `${line}: ${message}`) : [];
}

describe("importStore refuses, and imports nothing of", () => {
  test.each<[string, string, string[]]>([
    ["an empty text", "", ["1: is missing: the text is empty"]],
    ["blank lines alone", "\n\n \n", ["1: is missing: the text is empty"]],
    ["what is no export", "hello\n", ["1: is not the first line of an export: exportStore() writes a version there"]],
    [
      "an export of something else",
      '{"escapement":"store"}\n',
      ["1: is not the first line of an export: exportStore() writes a version there"],
    ],
    [
      "a newer version",
      HEADER.replace('"version":1', '"version":2'),
      ["1: must be version 1, which this program reads; got 2: update first"],
    ],
    [
      "a text that was cut between lines",
      `${HEADER}\n${TASK}\n`,
      ["3: is missing: the text was cut off, because it has no end"],
    ],
    [
      "a text that was cut within a line",
      `${HEADER}\n${TASK.slice(0, 50)}`,
      ["2: is no JSON object", "3: is missing: the text was cut off, because it has no end"],
    ],
    ["what follows the end", text(TASK, END), ["4: comes after the end: the text has ended before"]],
    [
      "an unknown kind",
      text('{"robot":{}}'),
      [
        "2: has no record of a kind that this program knows: task, taskPause, blackout, schedule, runningJob, job, result, history, run, skip",
      ],
    ],
    [
      "a kind of the prototype",
      text('{"constructor":{}}'),
      [
        "2: has no record of a kind that this program knows: task, taskPause, blackout, schedule, runningJob, job, result, history, run, skip",
      ],
    ],
    [
      "two records in a line",
      text('{"task":{},"job":{}}'),
      [
        "2: has no record of a kind that this program knows: task, taskPause, blackout, schedule, runningJob, job, result, history, run, skip",
      ],
    ],
    [
      "a list",
      text("[]", "null"),
      [
        "2: has no record of a kind that this program knows: task, taskPause, blackout, schedule, runningJob, job, result, history, run, skip",
        "3: is no JSON object",
      ],
    ],
    [
      "a field too many",
      text(TASK, schedule({ robot: 1 })),
      ["3: schedule.robot: is no field that this program knows"],
    ],
    ["a record without a field", text(JSON.stringify({ task: { id: "task" } })), ["2: task.executor: is missing"]],
    [
      "a field of a wrong type",
      text(TASK, schedule({ paused: 1 })),
      ["3: schedule.paused: must be true or false; got 1"],
    ],
    [
      "an instant that is none",
      text(TASK, schedule({ nextFireTime: 9e15 })),
      [
        "3: schedule.nextFireTime: must be a whole number from -8640000000000000 to 8640000000000000; got 9000000000000000",
      ],
    ],
    [
      "a trigger that nobody can read",
      text(TASK, schedule({ trigger: '{"type":"robot","version":1}' })),
      [expect.stringMatching(/^3: schedule\.trigger: the type "robot" is unknown/) as unknown as string],
    ],
    [
      "a payload that nobody can read",
      text(TASK, schedule({ payload: "{" })),
      ["3: schedule.payload: the serializer of the store cannot read it; give the store the one of the exported store"],
    ],
    [
      "a schedule of an unknown task",
      text(schedule({ taskId: "other" })),
      ['2: schedule.taskId: neither the text nor the store has the task "other"'],
    ],
    [
      "a pause of an unknown task",
      text('{"taskPause":{"taskId":"other","key":null}}'),
      ['2: taskPause.taskId: neither the text nor the store has the task "other"'],
    ],
    [
      "blackouts without a window, with a rule that nobody can read, and of nobody's schedules",
      text(
        blackout({ until: null }),
        blackout({ from: T0 + 9 }),
        blackout({ from: null, until: null, trigger: '{"type":"robot","version":1}', durationMs: 1 }),
        blackout({ taskIds: [] }),
      ),
      [2, 3, 4, 5].map((line) => expect.stringMatching(new RegExp(`^${line}: blackout[.:]`))) as unknown as string[],
    ],
    [
      "more blackouts than a store takes",
      text(...Array.from({ length: 1001 }, (_, place) => blackout({ id: String(place + 1000) }))),
      ["1002: blackout: the store would have more than 1000 blackouts"],
    ],
    [
      "an id that comes twice",
      text(TASK, schedule(), schedule()),
      ['4: schedule.id: must come after "schedule" in the order of ids, each of which comes once'],
    ],
    [
      "a task that comes late",
      text(TASK, schedule(), JSON.stringify({ task: makeTask({ id: "z" }) })),
      ["4: a task must come before all records of the kind schedule"],
    ],
    [
      "a job with a lease",
      text(TASK, job({ acquiredBy: "me", acquiredUntil: T0 })),
      [expect.stringMatching(/^3: job\.acquiredBy: /) as unknown as string],
    ],
    [
      "text that a store could not keep",
      text(TASK, job({ id: "a\0" })),
      [expect.stringMatching(/^3: job\.id: must be text without NUL/) as unknown as string],
    ],
    [
      "metadata with a prototype",
      text(TASK, job().replace('"metadata":{}', '"metadata":{"__proto__":{}}')),
      [expect.stringMatching(/^3: job\.metadata: must have no key "__proto__"/) as unknown as string],
    ],
  ])("%s", async (_, lines, issues) => {
    expect(await problemsOf(lines)).toEqual(issues);
  });

  test("more than 50 wrong lines, of which it names 50", async () => {
    expect(await problemsOf(text(...Array.from({ length: 1000 }, () => "{}")))).toHaveLength(50);
  });

  test("a line without an end, of which it reads 8,000,000 characters", async () => {
    let pieces = 0;
    const endless = function* (): Generator<string> {
      yield `${HEADER}\n`;
      for (;;) {
        pieces++;
        yield "x".repeat(1_000_000);
      }
    };
    expect(await problemsOf(endless)).toEqual(["2: has more than 8000000 characters"]);
    expect(pieces).toBe(9);
  });

  test("a deeply nested line", async () => {
    const [problem] = await problemsOf(text(`{"task":${"[".repeat(100_000)}${"]".repeat(100_000)}}`));
    expect(problem).toMatch(/^2: /);
  });
});

describe("importStore takes text", () => {
  const lines = `${text(TASK, schedule({ name: "ä 😀" }))}\n`;
  const bytes = new TextEncoder().encode(lines);

  test.each<[string, Parameters<typeof importStore>[1]]>([
    ["as a string", lines],
    ["with the line ends of Windows, blank lines and a byte order mark", `\ufeff${lines.replaceAll("\n", "\r\n\r\n")}`],
    ["in single characters", [...lines]],
    ["in single bytes", Array.from(bytes, (byte) => new Uint8Array([byte]))],
    ["as a stream", new Blob([lines]).stream() as unknown as AsyncIterable<Uint8Array>],
    ["as a function that opens a stream", () => new Blob([lines]).stream() as unknown as AsyncIterable<Uint8Array>],
  ])("%s", async (_, given) => {
    const store = new MemoryDataStore();
    await importStore(store, given);
    expect((await store.getSchedule("schedule"))?.name).toBe("ä 😀");
  });

  test.each<[string, unknown, string]>([
    ["no text", 5, "importStore(): lines must be text, an iterable of text, or a function; got 5"],
    [
      "a function that opens nothing",
      () => undefined,
      "importStore(): lines must be a function that returns text, or an iterable of text",
    ],
    ["pieces that are no text", [5], "importStore(): lines must give pieces of text, or Uint8Arrays of UTF-8"],
    ["bytes that are no UTF-8", [new Uint8Array([0xff])], "importStore(): lines must be text in UTF-8"],
  ])("but not %s", async (_, given, message) => {
    const call = importStore(new MemoryDataStore(), given as string);
    await expect(call).rejects.toThrow(message);
    await expect(call).rejects.toBeInstanceOf(OptionsError);
  });

  test("but no more than it can keep, unless a function opens it anew", async () => {
    const piece = `${" ".repeat(999_999)}\n`;
    const much = function* (): Generator<string> {
      yield `${HEADER}\n`;
      for (let count = 0; count < 65; count++) yield piece;
      yield END;
    };
    await expect(importStore(new MemoryDataStore(), much())).rejects.toThrow(/has more than 64000000 characters/);
    await importStore(new MemoryDataStore(), much);
    await importStore(new MemoryDataStore(), much(), { dryRun: true });
  });
});

describe("where ids are in use", () => {
  async function stored(): Promise<DataStore> {
    const store = new MemoryDataStore();
    await store.putTasks([makeTask({ timeoutMs: 1, declaration: "hash" })]);
    await store.addBlackout({ blackout: BLACKOUT, conflictPolicy: "error" });
    await store.addSchedules([{ schedule: readableSchedule({ name: "stored" }), conflictPolicy: "error" }]);
    await store.addJobs([makeJob({ metadata: { is: "stored" } })]);
    return store;
  }
  const lines = text(
    JSON.stringify({ task: makeTask({ timeoutMs: 2, declaration: "hash" }) }),
    '{"taskPause":{"taskId":"task","key":null}}',
    blackout({ reason: "imported" }),
    schedule({ name: "imported", paused: true }),
    schedule({ id: "schedule 2" }),
    job({ metadata: { is: "imported" } }),
    job({ id: "job 2" }),
  );
  const shown = async (store: DataStore): Promise<unknown[]> => {
    const [task, one] = [await store.getTask("task"), await store.getSchedule("schedule")];
    const reasons = (await store.getBlackouts()).items.map(({ reason }) => reason);
    const is = (await store.getJob("job"))?.metadata.is;
    return [task?.timeoutMs, task?.paused === true, ...reasons, one?.name, one?.paused, is];
  };

  test("nothing is imported", async () => {
    const store = await stored();
    const before = await textOf(store);
    const error = await importStore(store, lines).catch((thrown: unknown) => thrown);
    const message = 'importStore(): the store has a task "task" (and 3 other ids); pass conflictPolicy "doNothing" or ';
    expect(error).toEqual(new ConflictingIdError(`${message}"replace"`, "task"));
    expect(await textOf(store)).toEqual(before);
  });

  test("doNothing keeps what is stored, and adds the rest", async () => {
    const store = await stored();
    const options: ImportOptions = { conflictPolicy: "doNothing" };
    const would = await importStore(store, lines, { ...options, dryRun: true });
    const did = await importStore(store, lines, options);
    expect(did).toEqual({ ...would, dryRun: false });
    expect(did).toMatchObject({ tasks: { kept: 1 }, schedules: { added: 1, kept: 1 }, jobs: { added: 1, kept: 1 } });
    expect(await shown(store)).toEqual([1, false, "stored", "stored", false, "stored"]);
    expect(await store.getJob("job 2")).not.toBeNull();
  });

  test("replace replaces tasks and schedules, and keeps jobs", async () => {
    const store = await stored();
    const options: ImportOptions = { conflictPolicy: "replace" };
    const would = await importStore(store, lines, { ...options, dryRun: true });
    const did = await importStore(store, lines, options);
    expect(did).toEqual({ ...would, dryRun: false });
    expect(did).toMatchObject({ tasks: { replaced: 1 }, schedules: { added: 1, replaced: 1 }, jobs: { kept: 1 } });
    expect(await shown(store)).toEqual([2, true, "imported", "imported", true, "stored"]);
  });

  test("a dry run of any policy writes nothing", async () => {
    const store = await stored();
    const before = await textOf(store);
    for (const conflictPolicy of ["error", "doNothing", "replace"] as const) {
      await importStore(store, lines, { dryRun: true, conflictPolicy });
    }
    expect(await textOf(store)).toEqual(before);
  });
});

test("an import that was interrupted is repeated with doNothing", async () => {
  const [from, to] = [new MemoryDataStore(), new MemoryDataStore()];
  await fill(from);
  const lines = await linesOf(from);
  const addSchedules = to.addSchedules.bind(to);
  to.addSchedules = async () => {
    throw new Error("lost");
  };
  await expect(importStore(to, lines)).rejects.toThrow("lost");
  to.addSchedules = addSchedules;
  await importStore(to, lines, { conflictPolicy: "doNothing" });
  expect((await textOf(to)).length).toBe(lines.length - 1 - 5);
});

test("an export and an import end with their signal", async () => {
  const store = new MemoryDataStore();
  await fill(store);
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(textOf(store, { signal })).rejects.toThrow("enough");
  await expect(importStore(store, text(), { signal })).rejects.toThrow("enough");
  const controller = new AbortController();
  const read = async (): Promise<void> => {
    for await (const line of exportStore(store, { include: ["jobs"], signal: controller.signal })) {
      if (line.includes('"schedule"')) controller.abort(new Error("enough"));
    }
  };
  await expect(read()).rejects.toThrow("enough");
});

test("options that do not fit are refused at the call", async () => {
  const store = new MemoryDataStore();
  expect(() => exportStore({} as DataStore)).toThrow(/dataStore must be a DataStore/);
  expect(() => exportStore(store, { include: ["robots" as "jobs"] })).toThrow(OptionsError);
  await expect(importStore(store, text(), { dryrun: true } as ImportOptions)).rejects.toThrow(/dryRun/);
});

test("an export has payloads, and jobs only if they are asked for", async () => {
  const store = new MemoryDataStore();
  await fill(store);
  expect((await textOf(store)).join("")).toContain('"payload":"[1,2]"');
  expect((await textOf(store, {})).join("")).not.toContain('"job"');
});
