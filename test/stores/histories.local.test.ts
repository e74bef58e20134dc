import { describe, expect, test } from "vitest";
import type { JobRecord } from "../../src/records/job.ts";
import type { OccurrenceRecord } from "../../src/records/ledger.ts";
import type { Ledger, OccurrenceRecordFilter } from "../../src/stores/contract/ledger-types.ts";
import type { StatsCounts } from "../../src/stores/contract/stats-types.ts";
import type { DataStore, StatsFilter } from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import { DAY_MS, end, filterOf, makeSkip } from "../../src/testing/data-store-contract/ledger-makers.ts";
import {
  add,
  cancel,
  commit,
  finish,
  fireOf,
  LEASE_MS,
  look,
  makeJob,
  makeSchedule,
  planOf,
  release,
  removeSchedule,
  T0,
  updateSchedule,
} from "../../src/testing/data-store-contract/makers.ts";
import { Random } from "../simulation/random.ts";
import { LIBSQL, openWithTables, rowsOf } from "./local-stores.ts";

const HOUR_MS = 3_600_000;
/** `npm run test:matrix` takes all. */
const SEQUENCES = process.env.ESCAPEMENT_ALL_TESTS === undefined ? 60 : 150;
const SEQUENCES_PER_TEST = 10;
const MAKE_DUE = "UPDATE escapement_histories SET next_trim_at = 0";
const MOVES = 50;
/** The store in memory removes what is too much at once, so that nothing is. */
const LIMITS = { countMax: 1000, ageMsMax: 60_000 };
const IDS = ["a", "a", "a", "b"];
const WINDOWS = 4;
const SKIPPED = ["coalesced", "tooOld", "overCount", "overlapSkipped"] as const;
const VERDICTS = [undefined, ["success"], ["error", "paused", "coalesced"], ["removed", "replaced", "tooOld"]] as const;

type Stores = readonly [memory: DataStore, sql: DataStore];

function ledgerOf({ ledger }: DataStore): Ledger {
  if (ledger === null || ledger === undefined) throw new Error("the ledger is off");
  return ledger;
}

type Move = (store: DataStore) => Promise<unknown>;

/** What happens to two schedules, as one store tells; every store gets the same moves. */
class Life {
  readonly #random: Random;
  readonly #store: DataStore;
  readonly #makeDue: () => Promise<unknown>;
  now = T0;
  #names = 0;

  /** @param makeDue makes histories due for the clean-up, which otherwise looks at them once an hour */
  constructor(random: Random, store: DataStore, makeDue: () => Promise<unknown>) {
    this.#random = random;
    this.#store = store;
    this.#makeDue = makeDue;
  }

  /** The next move, or null for none. */
  async next(): Promise<Move | null> {
    const random = this.#random;
    this.now += random.int(0, 4) * 500;
    const id = random.pick(IDS);
    const note = { at: this.now, by: "somebody" };
    const weights = { add: 4, remove: 2, change: 2, plan: 8, take: 4, end: 6, cancel: 1, retry: 2, clean: 0.5 };
    switch (random.weighted(weights)) {
      case "add": {
        const overlap = random.pick(["queue", "skip", "replaceQueued"] as const);
        const nextFireTime = this.now + random.int(-20, 3) * 1000;
        const schedule = makeSchedule({ id, createdAt: this.now, nextFireTime, overlap });
        return (store) => store.addSchedules(add(schedule), note);
      }
      case "remove":
        return (store) => removeSchedule(store, id, note);
      case "change": {
        const changes = random.pick([
          { paused: true },
          { paused: false },
          { trigger: `{"kind":${this.#names++}}`, nextFireTime: this.now + random.int(-10, 3) * 1000 },
        ]);
        return (store) => updateSchedule(store, id, changes, undefined, note);
      }
      case "plan":
        return this.#plan(id);
      case "take": {
        const [now, until] = [this.now, this.now + LEASE_MS];
        return (store) => commit(store, { now, until, limit: 3, recover: true });
      }
      case "end":
        return this.#end();
      case "cancel": {
        const [job] = await this.#jobs();
        return job === undefined ? null : (store) => cancel(store, job.id, this.now);
      }
      case "retry":
        return this.#retry();
      case "clean": {
        const request = { now: this.now + random.int(30, 70) * 1000, limit: 1000 };
        return async (store) => {
          await this.#makeDue();
          // The second time for what is left empty.
          for (let round = 0; round < 2; round++) await store.cleanup(request);
        };
      }
    }
  }

  /** As planners do: no plan goes back behind the last fire time, and its skips and fires follow each other. */
  async #plan(id: string): Promise<Move | null> {
    const random = this.#random;
    const { due } = await look(this.#store, { now: this.now, schedules: {} });
    const schedule = due.find((one) => one.id === id);
    if (schedule === undefined) return null;
    const { overlap, nextFireTime, lastFireTime } = schedule;
    let time = Math.max(nextFireTime, (lastFireTime ?? nextFireTime - 1) + 1);
    const skips = [];
    for (let count = random.int(0, 2); count > 0; count--) {
      const until = time + random.int(0, 6) * 1000;
      const verdict = random.pick(SKIPPED);
      skips.push(
        makeSkip(time, { until, verdict, count: random.pick([null, 3]), into: random.pick([null, until + 1000]) }),
      );
      time = until + 1000;
    }
    const fireTimes = Array.from(
      { length: overlap === "queue" ? random.int(0, 3) : 1 },
      (_, index) => time + index * 1000,
    );
    const last = fireTimes.at(-1) ?? skips.at(-1)?.until;
    if (last === undefined) return null;
    const fires = fireTimes.map((at) =>
      fireOf(id, at, { jobId: `job ${this.#names++}`, createdAt: this.now, runAt: at }),
    );
    const plan = planOf(schedule, { fires, skips, lastFireTime: last, nextFireTime: last + random.int(1, 3) * 1000 });
    const { now } = this;
    const apart =
      overlap === "queue" || overlap === undefined
        ? {}
        : { overlap: { policy: overlap, passed: 0, lastPassedTime: null } };
    return (store) => commit(store, { now, jobs: null, plans: [{ ...plan, ...apart }] });
  }

  async #end(): Promise<Move | null> {
    const leased = (await this.#jobs()).filter((job) => job.acquiredBy === "scheduler-a");
    if (leased.length === 0) return null;
    const job = this.#random.pick(leased);
    const outcome = this.#random.pick(["success", "error"] as const);
    const finishedAt = this.now;
    const times = { startedAt: finishedAt - this.#random.int(0, 3000), finishedAt };
    if (this.#random.chance(0.5)) return (store) => end(store, job, { outcome, ...times });
    return (store) =>
      release(store, [finish(job, { outcome, ...times, expiresAt: finishedAt + 1e9 })], { now: finishedAt });
  }

  /** Repeats a job that has ended. */
  async #retry(): Promise<Move | null> {
    const { items } = await this.#store.getJobResults({ limit: 50, cursor: null }, this.now);
    const [result] = items.filter(({ job }) => job !== undefined && job.fireTime !== null);
    if (result === undefined) return null;
    const { jobId, scheduleId, job, scheduledFireTime } = result;
    const fireTime = job?.fireTime ?? null;
    const at = { createdAt: this.now, runAt: this.now, idempotencyKey: jobId };
    const again = makeJob({ id: `${jobId} again`, retryOf: jobId, scheduleId, fireTime, scheduledFireTime, ...at });
    return (store) => store.addJobs([again]);
  }

  async #jobs(): Promise<JobRecord[]> {
    return [...(await this.#store.getJobs({ limit: 100, cursor: null })).items];
  }
}

async function pages(ledger: Ledger, fields: Partial<OccurrenceRecordFilter>): Promise<OccurrenceRecord[]> {
  const all: OccurrenceRecord[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Ledger["getOccurrences"]>> = await ledger.getOccurrences(
      filterOf({ ...fields, cursor }),
    );
    all.push(...page.items);
    expect(page.cursor === null || page.cursor !== cursor, "a cursor goes on").toBe(true);
    ({ cursor } = page);
  } while (cursor !== null);
  return all;
}

function startOf(entry: OccurrenceRecord): number {
  return entry.kind === "run" ? entry.fireTime : entry.from;
}

function endOf(entry: OccurrenceRecord): number {
  return entry.kind === "run" ? entry.fireTime : entry.until;
}

/** Whatever is asked for, both stores answer the same. */
async function compare(stores: Stores, random: Random): Promise<number> {
  const [memory, sql] = [ledgerOf(stores[0]), ledgerOf(stores[1])];
  let seen = 0;
  for (const scheduleId of new Set(IDS)) {
    const all = await pages(memory, { scheduleId });
    seen += all.length;
    expect(await pages(sql, { scheduleId }), "all entries").toEqual(all);
    expect(await sql.getLedgerStart(scheduleId), "the start").toBe(await memory.getLedgerStart(scheduleId));
    for (const [index, entry] of all.slice(1).entries()) {
      expect(startOf(entry), "entries do not overlap").toBeGreaterThan(endOf(all[index] as OccurrenceRecord));
    }
    const filters: Partial<OccurrenceRecordFilter>[] = Array.from({ length: WINDOWS }, () => {
      const near = random.pick(all);
      const from = near === undefined ? T0 : random.pick([startOf(near), endOf(near)]) + random.int(-1, 1);
      const verdicts = random.pick(VERDICTS);
      const window = { from, until: from + random.int(0, 20) * 500 };
      return { limit: random.int(1, 4), ...random.pick([{}, window]), ...(verdicts === undefined ? {} : { verdicts }) };
    });
    for (const order of ["oldest", "newest"] as const) {
      for (const filter of filters) {
        const asked = { scheduleId, order, ...filter };
        expect(await pages(sql, asked), JSON.stringify(asked)).toEqual(await pages(memory, asked));
      }
    }
  }
  await compareStats(memory, sql, random);
  return seen;
}

/** The statistics of both are the same, of everything and of parts. */
async function compareStats(memory: Ledger, sql: Ledger, random: Random): Promise<void> {
  const hours = (from: number, count: number, length: number) => ({
    ...{ from: T0 + from * HOUR_MS, until: T0 + (from + count) * HOUR_MS, bucketMs: length * HOUR_MS },
  });
  const day = -((T0 % DAY_MS) / HOUR_MS);
  for (const of of ["all", "tasks", "schedules"] as const) {
    const ranges =
      of === "schedules" ? [hours(day - 24, 72, 24), hours(day, 24, 24)] : [hours(-1, 3, 1), hours(-2, 4, 2)];
    const parts: readonly Partial<StatsFilter>[] =
      of === "all" ? [{}] : [{}, { limit: 1 }, { ids: [random.pick([...IDS, "task", "gone"])] }];
    for (const part of [...parts, ...(of === "schedules" ? [{ taskId: random.pick(["task", "gone"]) }] : [])]) {
      const asked = { of, limit: 10, ...random.pick(ranges), ...part };
      const [one, other] = await Promise.all(
        [memory, sql].map(async (ledger) => sortedStats(await ledger.getStats(asked))),
      );
      expect(other, JSON.stringify(asked)).toEqual(one);
    }
  }
}

function sortedStats({ counts, isCut }: StatsCounts): unknown {
  return [isCut, counts.map(({ id, bucket, cell, count }) => `${id} ${bucket} ${cell} ${count}`).sort()];
}

/** Returns how many entries there were. */
async function live(seed: number, stores: Stores, makeDue: () => Promise<unknown>): Promise<number> {
  const random = new Random(seed);
  const life = new Life(random, stores[0], makeDue);
  for (let count = 0; count < MOVES; count++) {
    const move = await life.next();
    for (const store of move === null ? [] : stores) await move?.(store);
  }
  return compare(stores, random);
}

describe("a store in SQL and one in memory tell the same of fire times, whatever happened to schedules", () => {
  for (let first = 1; first <= SEQUENCES; first += SEQUENCES_PER_TEST) {
    const seeds = Array.from({ length: SEQUENCES_PER_TEST }, (_, index) => first + index);
    test(`seeds ${first} to ${seeds.at(-1)}`, async () => {
      let seen = 0;
      for (const seed of seeds) {
        const driver = LIBSQL.driver(":memory:");
        const sql = new SqlDataStore(driver, { ledger: LIMITS });
        await openWithTables(sql);
        const memory = new MemoryDataStore({
          ledger: { maxCount: LIMITS.countMax, maxAge: { milliseconds: LIMITS.ageMsMax } },
        });
        try {
          seen += await live(seed, [memory, sql], () => rowsOf(driver, MAKE_DUE));
        } catch (error) {
          throw new Error(`seed ${seed}`, { cause: error });
        } finally {
          await sql.close();
        }
      }
      expect(seen).toBeGreaterThan(SEQUENCES_PER_TEST);
    });
  }
});
