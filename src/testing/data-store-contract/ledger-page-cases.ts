import { OptionsError } from "../../core/errors.ts";
import type { OccurrenceRecord } from "../../records/ledger.ts";
import type { Ledger, OccurrenceRecordFilter } from "../../stores/contract/ledger-types.ts";
import type { DataStore } from "../../stores/data-store.ts";
import { ContractViolation, equal, isTrue, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  dueSchedule,
  end,
  entriesOf,
  filterOf,
  fireAt,
  jobIdAt,
  ledgerCase,
  makeSkip,
  runOf,
  seenAgain,
  skipOf,
} from "./ledger-makers.ts";
import { commit, commitPlans, planOf, T0 } from "./makers.ts";

/** Leaves seven entries: three runs, whose jobs end in the opposite order, three skips, and a last run. */
async function fill(store: DataStore): Promise<readonly OccurrenceRecord[]> {
  await fireAt(store, await dueSchedule(store), [T0, T0 + 1000, T0 + 2000]);
  const { acquired } = await commit(store, { now: T0 + 2000 });
  const runs: OccurrenceRecord[] = [];
  for (const [index, job] of acquired.toReversed().entries()) {
    const outcome = index === 1 ? "error" : "success";
    await end(store, job, { outcome });
    runs.unshift(runOf(job, { outcome }));
  }
  const skips = [
    makeSkip(T0 + 3000, { until: T0 + 12_000, verdict: "tooOld", count: 10 }),
    makeSkip(T0 + 13_000, { verdict: "overCount" }),
    makeSkip(T0 + 14_000, { until: T0 + 19_000, verdict: "coalesced", count: 6, into: T0 + 20_000 }),
  ];
  const plan = planOf(await seenAgain(store), { skips, fires: [], nextFireTime: T0 + 20_000 });
  await commitPlans(store, [plan], { now: T0 + 20_000 });
  await fireAt(store, await seenAgain(store), [T0 + 20_000]);
  const last = present((await commit(store, { now: T0 + 20_000 })).acquired[0], "the last job");
  await end(store, last);
  return [...runs, ...skips.map((skip): OccurrenceRecord => ({ kind: "skip", ...skip })), runOf(last)];
}

/** All entries of a filter, page by page. */
async function pages(
  ledger: Ledger,
  fields: Partial<OccurrenceRecordFilter>,
  between: () => Promise<void> = async () => {},
): Promise<readonly OccurrenceRecord[]> {
  const all: OccurrenceRecord[] = [];
  let cursor: string | null = null;
  for (let count = 0; count < 100; count++) {
    const page: Awaited<ReturnType<Ledger["getOccurrences"]>> = await ledger.getOccurrences(
      filterOf({ ...fields, cursor }),
    );
    isTrue(page.items.length <= (fields.limit ?? 1000), "a page has no more entries than its limit");
    all.push(...page.items);
    if (page.cursor === null) return all;
    cursor = page.cursor;
    await between();
  }
  throw new ContractViolation("after 100 pages of a few entries there are more");
}

export const ledgerPageCases: readonly DataStoreCase[] = [
  ledgerCase(
    ["H14"],
    "ledger: entries come in the order of their fire times, or the opposite order",
    async (store, ledger) => {
      const all = await fill(store);
      equal(await entriesOf(ledger), all, "the oldest first");
      equal(await entriesOf(ledger, { order: "newest" }), all.toReversed(), "the newest first");
      equal(await entriesOf(ledger, { scheduleId: "other" }), [], "those of another schedule");
    },
  ),
  ledgerCase(
    ["H25"],
    "ledger: single fire times are those of runs, of skips, of unfinished jobs, or unknown",
    async (store, ledger) => {
      const [first, second, third, tooOld, , coalesced, last] = await fill(store);
      await fireAt(store, await seenAgain(store), [T0 + 21_000]);
      const at = (...seconds: readonly number[]) => seconds.map((second) => T0 + second * 1000);
      const found = await ledger.getFireTimes([
        { scheduleId: "schedule", fireTimes: at(20, 2, 7, 1, 0, 16, 22, -1) },
        { scheduleId: "other", fireTimes: at(0) },
        { scheduleId: "schedule", fireTimes: [] },
        { scheduleId: "schedule", fireTimes: at(21) },
      ]);
      equal(found[0], [last, third, tooOld, second, first, coalesced, null, null], "of the schedule");
      equal(found.slice(1, 3), [[null], []], "of another schedule, and none");
      const jobId = jobIdAt(T0 + 21_000);
      const { createdAt } = present(await store.getJob(jobId), "the job");
      const times = { scheduledFireTime: T0 + 21_000, createdAt };
      equal(found[3], [{ kind: "job", jobId, ...times, attempts: 0 }], "of an unfinished job");
      await commit(store, { now: T0 + 21_000 });
      const leased = (await ledger.getFireTimes([{ scheduleId: "schedule", fireTimes: at(21) }]))[0];
      equal(leased, [{ kind: "job", jobId, ...times, attempts: 1 }], "of a job that runs");
    },
  ),
  ledgerCase(["H14"], "ledger: pages go on where the page before ended, in both orders", async (store, ledger) => {
    const all = await fill(store);
    for (const limit of [1, 2, 3, 7]) {
      equal(await pages(ledger, { limit }), all, `pages of ${limit}, the oldest first`);
      equal(await pages(ledger, { limit, order: "newest" }), all.toReversed(), `pages of ${limit}, the newest first`);
    }
    const inTime = { from: T0 + 1000, until: T0 + 14_000, limit: 2 };
    equal(await pages(ledger, inTime), all.slice(1, 6), "pages of a part, the oldest first");
    const backwards = all.slice(1, 6).toReversed();
    equal(await pages(ledger, { ...inTime, order: "newest" }), backwards, "pages of a part, the newest first");
  }),
  ledgerCase(
    ["H14"],
    "ledger: a window has the entries that touch it, and skips that reach into it",
    async (store, ledger) => {
      const all = await fill(store);
      for (const [from, until, first, end] of [
        [T0, T0, 0, 1],
        [T0 + 1, T0 + 999, 0, 0],
        [T0 + 1000, T0 + 2000, 1, 3],
        [T0 + 3000, T0 + 3000, 3, 4],
        [T0 + 12_000, T0 + 12_000, 3, 4],
        [T0 + 5000, T0 + 6000, 3, 4],
        [T0 + 12_001, T0 + 12_999, 0, 0],
        [T0 + 12_000, T0 + 14_000, 3, 6],
        [T0 + 15_000, T0 + 90_000, 5, 7],
        [T0 + 20_001, T0 + 90_000, 0, 0],
        [T0 - 90_000, T0 - 1, 0, 0],
      ] as const) {
        const expected = all.slice(first, end);
        const window = `from ${from - T0} until ${until - T0}`;
        equal(await entriesOf(ledger, { from, until }), expected, window);
        const newest = await entriesOf(ledger, { from, until, order: "newest" });
        equal(newest, expected.toReversed(), `${window}, the newest first`);
      }
    },
  ),
  ledgerCase(["H14"], "ledger: entries are found by outcomes of jobs and verdicts of skips", async (store, ledger) => {
    const all = await fill(store);
    for (const [verdicts, places] of [
      [["success"], [0, 2, 6]],
      [["error"], [1]],
      [["cancelled", "paused"], []],
      [
        ["tooOld", "error"],
        [1, 3],
      ],
      [["coalesced"], [5]],
      [
        ["overCount", "coalesced", "success"],
        [0, 2, 4, 5, 6],
      ],
    ] as const) {
      const expected = all.filter((_, index) => places.some((place) => place === index));
      equal(await pages(ledger, { verdicts }), expected, `those with ${verdicts.join(" or ")}`);
      equal(await pages(ledger, { verdicts, limit: 2 }), expected, `pages of those with ${verdicts.join(" or ")}`);
      const newest = await pages(ledger, { verdicts, order: "newest", limit: 1 });
      equal(newest, expected.toReversed(), `pages of those with ${verdicts.join(" or ")}, the newest first`);
    }
    const reaching = await entriesOf(ledger, { verdicts: ["tooOld"], from: T0 + 5000, until: T0 + 30_000 });
    equal(reaching, all.slice(3, 4), "one that reaches into a window");
  }),
  ledgerCase(["I2"], "ledger: a cursor stays good while entries come", async (store, ledger) => {
    const all = await fill(store);
    let time = T0 + 20_000;
    const added: OccurrenceRecord[] = [];
    const oldest = await pages(ledger, { limit: 3 }, async () => {
      time += 1000;
      const plan = planOf(await seenAgain(store), { fires: [], skips: [makeSkip(time)], nextFireTime: time + 1000 });
      await commitPlans(store, [plan], { now: time });
      added.push(skipOf(time));
    });
    equal(oldest.slice(0, 7), all, "those that there were");
    equal(oldest.slice(7), added.slice(0, oldest.length - 7), "those that came");
    isTrue(added.length > 1, "entries came");
    const newest = await pages(ledger, { limit: 5, order: "newest" }, async () => {
      time += 1000;
      const plan = planOf(await seenAgain(store), { fires: [], skips: [makeSkip(time)], nextFireTime: time + 1000 });
      await commitPlans(store, [plan], { now: time });
    });
    equal(newest, [...all, ...added].toReversed(), "the newest first, without those that came later");
  }),
  ledgerCase(["G3"], "ledger: an answer of the ledger is nobody's to change", async (store, ledger) => {
    await fill(store);
    const [first] = await entriesOf(ledger);
    try {
      Object.assign(present(first, "an entry"), { jobId: "another" });
    } catch {
      // A frozen record is as good as a copy.
    }
    const [again] = await entriesOf(ledger);
    equal(again?.kind === "run" && again.jobId, jobIdAt(T0), "the job of the first entry");
  }),
  ledgerCase(["I2"], "ledger: a cursor of something else is refused", async (store, ledger) => {
    await fill(store);
    for (const cursor of ["", "nonsense", "12 apples", "NaN"]) {
      try {
        await ledger.getOccurrences(filterOf({ cursor }));
      } catch (error) {
        if (!(error instanceof OptionsError)) throw error;
        continue;
      }
      throw new ContractViolation(`the cursor ${JSON.stringify(cursor)} was taken`);
    }
  }),
];
