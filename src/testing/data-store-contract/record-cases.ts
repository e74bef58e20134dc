import { compareTexts } from "../../core/text.ts";
import { isFound } from "../../stores/shared/cursors-and-search.ts";
import { equal, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import {
  add,
  commit,
  finish,
  idsOf,
  LEASE_MS,
  leasedJob,
  lookedAt,
  makeJob,
  makeSchedule,
  makeTask,
  planOf,
  release,
  T0,
  take,
} from "./makers.ts";

/** Text that breaks code that is careless about quotes, control characters or characters beyond 16 bits. */
const NASTY_TEXT = "'; DROP TABLE x; -- \" \\ \n\t\u0001 \u2028 é 漢字 👩‍👩‍👧‍👦 \u{10ffff} %s $1 ?1 {}[]";

/** What a store may take for an escape of its own: characters that Unicode leaves to programs, before hex digits and
 *  among themselves. */
const LIKE_ESCAPES = [
  "\ufdd00022,\ufdd00022isAdmin\ufdd00022:true",
  "\ufdd0",
  "\ufdd0\ufdd0\ufdd00000",
  "[\ufdd0d83d\ufdd0\\ufdd0",
  "{\\\\ufdd0\\u0000\\\\ud83d",
  "\ufdd1\ufdef0041\uffff\ufffe\u{1fffe}\ue000\ufffd",
];

/** Texts out of all of Unicode, the same in each run. Halves of pairs and NUL are among those for JSON alone. */
function unicodeTexts(count: number, isForJson: boolean): string[] {
  let state = 48;
  const below = (bound: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  const odd = ["\ufdd0", "\ufdd0", "0000", "d800", "fdd0", "0022", "\\", "\\u0000", '"', "[", "a", ...LIKE_ESCAPES];
  const character = (): string => {
    if (isForJson && below(8) === 0) return String.fromCharCode(below(3) === 0 ? 0 : 0xd800 + below(0x800));
    const text = below(2) === 0 ? (odd[below(odd.length)] ?? "") : String.fromCodePoint(1 + below(0x10ffff));
    return isForJson || text.isWellFormed() ? text : "\ufdd0";
  };
  return Array.from({ length: count }, () => Array.from({ length: 1 + below(24) }, character).join(""));
}

/** JSON of a million characters, which are one and a half million bytes. */
function large(): string {
  return `"${"漢字 text ".repeat(125_000)}"`;
}

/** Changes everything that a reference can reach, like a careless caller. */
function scribble(record: object): void {
  for (const key of Object.keys(record)) {
    try {
      const value: unknown = Reflect.get(record, key);
      if (typeof value === "object" && value !== null) scribble(value);
      Reflect.set(record, key, "scribbled");
    } catch {
      // Frozen records are as good as copies.
    }
  }
}

export const recordCases: readonly DataStoreCase[] = [
  {
    name: "records: changing what went in or came out changes nothing in the store",
    rules: ["G3"],
    async run({ open }) {
      const store = await open();
      const task = makeTask({ metadata: { deep: { a: 1 } } });
      const schedule = makeSchedule({ id: "s", metadata: { deep: { a: 1 } }, nextFireTime: T0 + 1 });
      const job = makeJob({ metadata: { deep: { a: 1 } }, idempotencyKey: "key" });
      await store.putTasks([task]);
      const additions = await store.addSchedules(add(schedule));
      const answers = await store.addJobs([job]);
      for (const record of [task, schedule, job, additions, ...answers]) scribble(record);
      for (let round = 0; round < 2; round++) {
        const readTask = present(await store.getTask("task"), "the task");
        const readSchedule = present(await store.getSchedule("s"), "the schedule");
        const readJob = present(await store.getJob("job"), "the job");
        equal(readTask, makeTask({ metadata: { deep: { a: 1 } } }), "the task");
        equal(
          readSchedule,
          makeSchedule({ id: "s", metadata: { deep: { a: 1 } }, nextFireTime: T0 + 1 }),
          "the schedule",
        );
        equal(readJob, makeJob({ metadata: { deep: { a: 1 } }, idempotencyKey: "key" }), "the job");
        for (const record of [readTask, readSchedule, readJob]) scribble(record);
      }
      const [again] = await store.addJobs([makeJob({ id: "other", idempotencyKey: "key" })]);
      equal(again?.job, makeJob({ metadata: { deep: { a: 1 } }, idempotencyKey: "key" }), "the job by its key");
    },
  },
  {
    name: "records: changing acquired ones and results changes nothing in the store",
    rules: ["G3"],
    async run({ open }) {
      const store = await open();
      const metadata = { a: { b: 1 } };
      const [due] = await lookedAt(store, makeSchedule({ metadata }));
      const plan = planOf(present(due, "the schedule"));
      const first = await commit(store, { commitId: "one", plans: [plan], schedules: { dueBy: T0 + 1000 } });
      scribble(first);
      scribble(present(due, "the schedule"));
      const schedule = makeSchedule({ metadata, nextFireTime: T0 + 1000, lastFireTime: T0, fence: 1 });
      equal(await store.getSchedule("schedule"), schedule, "the schedule");
      const second = await commit(store, { commitId: "one", isRepetition: true, schedules: { dueBy: T0 + 1000 } });
      const held = present(second.acquired[0], "the job");
      equal([held.id, held.metadata, second.due[0]?.fence], ["job of schedule", metadata, 1], "a job");
      const error = { name: "Error", message: "m", cause: { name: "Error", message: "inner" } };
      const one = finish(held, { error });
      await release(store, [one]);
      scribble(one);
      scribble(present(await store.getJobResult(held.id, T0), "the result"));
      equal(
        (await store.getJobResult(held.id, T0))?.error,
        { name: "Error", message: "m", cause: { name: "Error", message: "inner" } },
        "a result",
      );
    },
  },
  {
    name: "records: any text survives, in ids, names, keys, payloads, metadata and errors",
    rules: ["G5"],
    async run({ open }) {
      const store = await open();
      const text = NASTY_TEXT;
      await store.putTasks([makeTask({ id: text, executor: text, metadata: { [text]: text } })]);
      equal((await store.getTask(text))?.metadata, { [text]: text }, "a task's metadata");
      const schedule = makeSchedule({ id: text, taskId: text, payload: text, trigger: text, triggerRule: text });
      await store.addSchedules(add({ ...schedule, metadata: { [text]: [text] } }));
      equal(await store.getSchedule(text), { ...schedule, metadata: { [text]: [text] } }, "a schedule");
      const job = makeJob({ id: text, taskId: text, executor: text, payload: text, idempotencyKey: text });
      await store.addJobs([{ ...job, metadata: { [text]: text } }]);
      const queues = [{ executor: text, taskId: text }];
      const { acquired } = await take(store, { by: text, commitId: text, queues });
      const leased = present(acquired[0], "the job");
      equal([leased.payload, leased.metadata, leased.acquiredBy], [text, { [text]: text }, text], "a job");
      const error = { name: text, message: text, stack: text };
      equal(
        (await release(store, [finish(leased, { returnValue: text, error })], { by: text })).releases,
        ["released"],
        "its release",
      );
      const result = present(await store.getJobResult(text, T0), "the result");
      equal([result.returnValue, result.error], [text, error], "a result");
    },
  },
  {
    name: "records: all of Unicode survives as it was given, wherever callers choose a text, and is found",
    rules: ["G5"],
    async run({ open }) {
      const store = await open();
      const texts = [...new Set([...LIKE_ESCAPES, ...unicodeTexts(10, false)])];
      const inJson = [...LIKE_ESCAPES, "\0\ufdd0000\ud83d\ufdd0", ...unicodeTexts(texts.length, true)];
      for (const [index, text] of texts.entries()) {
        const any = inJson[(index * 7) % inJson.length] ?? "";
        const payload = JSON.stringify({ isAdmin: false, [any]: JSON.stringify([any, text]) });
        const metadata = { [text]: [any, { [any]: text }] };
        const labels = { [`l${index}`]: text };
        const named = { taskId: text, executor: text, payload, metadata, labels };
        const task = makeTask({ id: text, executor: text, metadata, labels });
        await store.putTasks([task]);
        equal(await store.getTask(text), task, "a task");
        const schedule = makeSchedule({ ...named, id: text, name: text, trigger: payload, triggerRule: payload });
        await store.addSchedules(add(schedule));
        equal(await store.getSchedule(text), schedule, "a schedule");
        const found = { limit: 100, cursor: null, search: text };
        const schedules = await store.getSchedules(found);
        const expected = texts.slice(0, index + 1).filter((other) => isFound(text, [other]));
        equal(idsOf(schedules.items), expected.toSorted(compareTexts), "the schedules that are found");
        equal(idsOf((await store.getSchedules({ limit: 9, cursor: null, labels })).items), [text], "by its label");
        const job = makeJob({ ...named, id: text, idempotencyKey: text, concurrencyKey: text });
        const [added] = await store.addJobs([job]);
        equal(added?.job, { ...job, blockedBy: "limit" }, "a job that was added");
        const queues = [{ executor: text, taskId: text }];
        const leased = present((await take(store, { by: text, commitId: text, queues })).acquired[0], "the job");
        equal([leased.payload, leased.metadata, leased.labels], [payload, metadata, labels], "a job that runs");
        const { fence } = leased;
        const at = { now: T0, schedulerId: text, until: T0 + LEASE_MS, number: 1, isFirst: true };
        const saved = { name: text, startedAt: T0, attempts: 1, endedAt: T0, wakeAt: null, version: null };
        await store.saveJobStep({ ...at, jobId: text, fence, step: { ...saved, value: payload, cursor: payload } });
        equal(await store.getJobSteps(text, T0), [{ ...saved, value: payload, cursor: payload }], "its step");
        const line = { at: T0, level: "info", message: any, fields: { [any]: text } } as const;
        const log = { attempt: 1, dropped: 0, lines: [line] };
        const error = { name: text, message: text, stack: any, cause: { name: "Error", message: any } };
        const done = { ...finish(leased, { outcome: "error", returnValue: payload, error }), log } as const;
        equal((await release(store, [done], { by: text })).releases, ["released"], "its release");
        const result = present(await store.getJobResult(text, T0), "the result");
        equal([result.returnValue, result.error, result.job?.labels], [payload, error, labels], "a result");
        equal(await store.getJobLogs(text, T0), [log], "its log");
        const results = await store.getJobResults(
          { ...found, order: "oldest", taskId: text, error: text, key: text },
          T0,
        );
        equal(
          results.items.map(({ jobId }) => jobId),
          [text],
          "the results that are found",
        );
        const failures = await store.getFailures({ taskId: text, from: 0, until: T0 + LEASE_MS, limit: 9 }, T0);
        equal(
          failures.items.map(({ name, message }) => [name, message]),
          [[text, text]],
          "the failures",
        );
      }
      const all = await store.getSchedules({ limit: 100, cursor: null });
      equal(idsOf(all.items), texts.toSorted(compareTexts), "the order of ids");
    },
  },
  {
    name: "records: metadata keeps every key, also those that objects have by themselves, and a hundred levels",
    rules: ["G5"],
    async run({ open }) {
      const store = await open();
      const own = '{"constructor":1,"prototype":{"toString":2},"deep":{"__proto__":{"x":1}}}';
      const metadata = { ...JSON.parse(own), levels: JSON.parse(`${"[".repeat(99)}${"]".repeat(99)}`) };
      await store.putTasks([makeTask({ metadata })]);
      const [due] = await lookedAt(store, makeSchedule({ metadata }));
      await store.addJobs([makeJob({ metadata })]);
      await commit(store, { plans: [planOf(present(due, "the schedule"))] });
      const { recovered } = await take(store, { by: "b", now: T0 + LEASE_MS });
      equal(recovered.length, 2, "the recovered jobs");
      const stored = [
        await store.getTask("task"),
        await store.getSchedule("schedule"),
        await store.getJob("job"),
        await store.getJob("job of schedule"),
      ];
      const text = JSON.stringify(metadata);
      equal(
        stored.map((record) => JSON.stringify(record?.metadata)),
        [text, text, text, text],
        "the metadata",
      );
    },
  },
  {
    name: "records: numbers survive to the last millisecond and beyond",
    rules: ["G6"],
    async run({ open }) {
      const store = await open();
      const job = makeJob({ runAt: 253_402_300_799_999, priority: -2_147_483_648, missedCount: 9_007_199_254_740_991 });
      await store.addJobs([job, makeJob({ id: "early", runAt: -1, createdAt: -1, priority: 1.5 })]);
      equal(await store.getJob("job"), job, "large numbers");
      equal(
        await store.getJob("early"),
        makeJob({ id: "early", runAt: -1, createdAt: -1, priority: 1.5 }),
        "small ones",
      );
    },
  },
  {
    name: "records: a payload of a million characters survives, and so does a result",
    rules: ["G7"],
    async run({ open }) {
      const store = await open();
      const payload = large();
      const job = await leasedJob(store, { payload });
      equal(job.payload?.length, payload.length, "the length of the payload");
      equal(job.payload === payload, true, "the payload itself");
      const other = await leasedJob(store, { id: "other" });
      await release(store, [finish(other, { returnValue: payload })]);
      equal((await store.getJobResult("other", T0))?.returnValue === payload, true, "the result");
    },
  },
  {
    name: "records: a payload and a result of a million characters survive together",
    rules: ["G7"],
    isAboutLargeRows: true,
    async run({ open }) {
      const store = await open();
      const payload = large();
      const job = await leasedJob(store, { payload });
      await release(store, [finish(job, { returnValue: payload })]);
      equal((await store.getJobResult("job", T0))?.returnValue === payload, true, "the result");
    },
  },
  {
    name: "records: a second store on the same data sees what the first one wrote",
    rules: ["G13"],
    async run(context) {
      const [first, second] = await openTwo(context);
      await first.putTasks([makeTask()]);
      await first.addSchedules(add(makeSchedule({ nextFireTime: T0 + 1 })));
      await first.addJobs([makeJob()]);
      equal(await second.getTask("task"), makeTask(), "the task");
      equal(await second.getSchedule("schedule"), makeSchedule({ nextFireTime: T0 + 1 }), "the schedule");
      const { acquired } = await take(second, { by: "b" });
      equal(idsOf(acquired), ["job"], "what it acquires");
      equal((await first.getJob("job"))?.acquiredBy, "b", "what the first one sees");
    },
  },
  {
    name: "records: opening again is harmless",
    rules: ["G9"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob()]);
      await store.open(T0 + 1);
      equal((await store.getJob("job"))?.id, "job", "the job");
    },
  },
];
