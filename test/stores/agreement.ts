import { expect } from "vitest";
import type { JobRecord, NewJobRecord } from "../../src/records/job.ts";
import type { DataStore, JobRelease } from "../../src/stores/data-store.ts";
import {
  commit,
  extend,
  finish,
  fireOf,
  LEASE_MS,
  look,
  makeJob,
  makeSchedule,
  makeTask,
  planOf,
  removeSchedule,
  T0,
  updateSchedule,
} from "../../src/testing/data-store-contract/makers.ts";
import { Random } from "../simulation/random.ts";

const TASKS = ["a", "b", "c"];
const KEYS = ["x", "y", "z"];
const QUEUES = TASKS.map((taskId) => ({ executor: "inline", taskId }));
const TEXTS = [null, '"ü\\u0000\\ud83d"', `{"quote":"'\\\\$1 ?1"}`, "[1.5,null]"];

export interface AgreementOptions {
  readonly seed: number;
  /** How many verbs there are. */
  readonly count: number;
  /** Whether jobs are blocked: by their parents, by limits of keys, rates and turns, and by pauses. */
  readonly hasFlow: boolean;
  /** Whether answers get lost, and their verbs are repeated. */
  readonly isLossy: boolean;
}

type Verb = (store: DataStore) => Promise<unknown>;

/**
 * Random verbs for several stores, each of which gets the same. They are made of what the first store tells.
 */
class RandomVerbs {
  readonly #random: Random;
  readonly #store: DataStore;
  now = T0;
  #names = 0;

  readonly #hasFlow: boolean;
  readonly #isLossy: boolean;

  constructor(store: DataStore, { seed, hasFlow, isLossy }: AgreementOptions) {
    this.#random = new Random(seed);
    this.#store = store;
    this.#hasFlow = hasFlow;
    this.#isLossy = isLossy;
  }

  /** The name of the next verb, and the verb. */
  async next(): Promise<readonly [name: string, verb: Verb]> {
    const random = this.#random;
    this.now += random.int(0, 4) * 500;
    const made = {
      putTasks: 2,
      pauseTask: this.#hasFlow ? 2 : 0,
      addBlackout: 0.5,
      removeBlackout: 0.5,
      addSchedules: 3,
      // Each try of an update, and of a replacement, counts one on.
      updateSchedules: this.#isLossy ? 0 : 2,
      removeSchedules: 1,
      plan: 5,
      addJobs: 8,
      take: 10,
      release: 10,
      extendLeases: 2,
      saveJobStep: 2,
      giveUpLeases: 0.5,
      cancelJobs: 2,
      cleanup: 1,
      removeJobResults: 0.5,
      removeTask: 0.3,
    };
    const name = random.weighted(made);
    return [name, await this[name]()];
  }

  private async putTasks(): Promise<Verb> {
    const random = this.#random;
    const tasks = TASKS.filter(() => random.chance(0.5)).map((id) => {
      const maxRunningJobs = random.pick([null, null, 1, 3]);
      if (!this.#hasFlow) return makeTask({ id, maxRunningJobs });
      const rate = random.chance(0.3) ? { rateLimit: { limit: random.int(1, 3), perMs: 4000, burst: 2 } } : {};
      const perKey = random.chance(0.3) ? { maxRunningPerKey: random.int(1, 2) } : {};
      return makeTask({ id, maxRunningJobs, ...rate, ...perKey, ...(random.chance(0.3) ? { fair: true } : {}) });
    });
    return (store) => store.putTasks(tasks);
  }

  private async pauseTask(): Promise<Verb> {
    const random = this.#random;
    const about = { taskId: random.pick(TASKS), key: random.pick([null, ...KEYS]), now: this.now, by: "somebody" };
    const until = random.chance(0.5) ? { until: this.now + random.int(1, 10) * 1000, reason: "it's \\ so" } : {};
    const request = random.chance(0.4) ? { ...about, paused: true, ...until } : { ...about, paused: false };
    return (store) => store.pauseTask(request);
  }

  private async addBlackout(): Promise<Verb> {
    const random = this.#random;
    const id = random.pick(["one", "two"]);
    const until = this.now + random.int(1, 9) * 1000;
    const absent = { trigger: null, durationMs: null, labels: null, taskIds: null, reason: null, by: null };
    const blackout = { ...absent, id, from: this.now, until, missed: "skip", createdAt: this.now } as const;
    const conflictPolicy = random.pick(["error", "replace", "doNothing"] as const);
    return (store) => store.addBlackout({ blackout, conflictPolicy });
  }

  private async removeBlackout(): Promise<Verb> {
    const id = this.#random.pick(["one", "two"]);
    return (store) => store.removeBlackout(id);
  }

  private async addSchedules(): Promise<Verb> {
    const random = this.#random;
    const id = random.pick(["s", "t", "u"]);
    const nextFireTime = this.now + random.int(-5, 5) * 1000;
    const expects = random.chance(0.3) ? { expectStartMs: 1000, expectFinishMs: 5000 } : {};
    const schedule = makeSchedule({
      ...{ id, taskId: random.pick(TASKS), createdAt: this.now, nextFireTime, payload: random.pick(TEXTS) },
      ...{ priority: random.int(-1, 1), metadata: { text: random.pick(TEXTS) }, ...expects },
      ...(this.#hasFlow && random.chance(0.3) ? { concurrencyKey: random.pick(KEYS) } : {}),
    });
    const conflictPolicy = this.#isLossy ? "doNothing" : random.pick(["replace", "doNothing"] as const);
    return (store) => store.addSchedules([{ schedule, conflictPolicy }], { at: this.now, by: "somebody" });
  }

  private async updateSchedules(): Promise<Verb> {
    const random = this.#random;
    const changes = random.pick([
      { paused: true },
      { paused: false },
      { priority: random.int(-2, 2), payload: random.pick(TEXTS) },
      { trigger: `{"kind":${this.#names++}}`, nextFireTime: this.now + random.int(-5, 5) * 1000 },
    ]);
    const [id, note] = [random.pick(["s", "t", "u"]), { at: this.now, by: "somebody" }];
    return (store) => updateSchedule(store, id, changes, undefined, note);
  }

  private async removeSchedules(): Promise<Verb> {
    const id = this.#random.pick(["s", "t", "u"]);
    const note = { at: this.now, by: "somebody" };
    return (store) => removeSchedule(store, id, note);
  }

  private async plan(): Promise<Verb> {
    const random = this.#random;
    const { now } = this;
    const { due } = await look(this.#store, { now, schedules: {} });
    const plans = due.map((schedule) => {
      const fires = [fireOf(schedule.id, schedule.nextFireTime, { jobId: `job ${this.#names++}`, createdAt: now })];
      // Some of them are stale.
      const fence = schedule.fence - (random.chance(0.2) ? 1 : 0);
      return planOf(
        { ...schedule, fence },
        { fires, nextFireTime: random.pick([null, now + random.int(0, 3) * 1000]) },
      );
    });
    const commitId = this.#commitId();
    return (store) => commit(store, { now, commitId, jobs: null, plans, schedules: {}, overdue: true });
  }

  private async addJobs(): Promise<Verb> {
    const random = this.#random;
    const { items } = await this.#store.getJobs({ limit: 20, cursor: null });
    const jobs = Array.from({ length: random.int(1, 4) }, (): NewJobRecord => {
      const taskId = random.pick(TASKS);
      const runAt = this.now + random.int(-1, 3) * 1000;
      const parent =
        this.#hasFlow && random.chance(0.2) ? items[random.int(0, Math.max(0, items.length - 1))]?.id : undefined;
      const waitMs = random.int(0, 3) * 1000;
      const once = random.pick([
        {},
        {},
        {},
        { idempotencyKey: random.pick(KEYS) },
        {
          once: { kind: random.pick(["throttle", "unique"] as const), key: random.pick(KEYS), until: this.now + 5000 },
        },
        { debounce: { key: random.pick(KEYS), waitMs, maxWaitMs: null }, runAt: this.now + waitMs },
      ]);
      return makeJob({
        ...{ id: `job ${this.#names++}`, taskId, createdAt: this.now, runAt, priority: random.int(-1, 1) },
        ...{
          payload: random.pick(TEXTS),
          metadata: { text: random.pick(TEXTS) },
          labels: { tenant: random.pick(KEYS) },
        },
        ...(random.chance(0.2) ? { startDeadline: runAt + 2000 } : {}),
        ...(this.#hasFlow && random.chance(0.5) ? { concurrencyKey: random.pick(KEYS) } : {}),
        ...(parent === undefined ? {} : { after: [parent], onParentFailure: random.pick(["run", "cancel"] as const) }),
        ...once,
      });
    });
    return (store) => store.addJobs(jobs);
  }

  private async take(): Promise<Verb> {
    const random = this.#random;
    const fields = {
      ...{ now: this.now, by: this.#scheduler(), commitId: this.#commitId(), limit: random.int(1, 5) },
      ...{ queues: QUEUES.filter(() => random.chance(0.8)), until: this.now + LEASE_MS / 10 },
      ...{ recover: random.chance(0.8), endsMissed: random.chance(0.5), endsPauses: random.chance(0.5), overdue: true },
    };
    return (store) => commit(store, fields);
  }

  private async release(): Promise<Verb> {
    const random = this.#random;
    const { now } = this;
    const releases = (await this.#leased()).filter(() => random.chance(0.6)).map((job) => this.#end(job));
    const [by, commitId] = [this.#scheduler(), this.#commitId()];
    return (store) => commit(store, { now, by, commitId, releases, queues: QUEUES, limit: 2 });
  }

  #end(job: JobRecord): JobRelease {
    const random = this.#random;
    const { id: jobId, fence } = job;
    const finishedAt = this.now;
    const expiresAt = finishedAt + random.pick([0, 5000, 1e9]);
    const error = { name: "Error", message: "it's\\ bad" };
    switch (random.pick(["success", "error", "retry", "giveUp", "start"] as const)) {
      case "success":
        return finish(job, { finishedAt, expiresAt, returnValue: random.pick(TEXTS) });
      case "error":
        return finish(job, { finishedAt, expiresAt, outcome: "error", returnValue: null, error });
      case "retry":
        return { jobId, fence, kind: "retry", runAt: finishedAt + 1000, failedAttempts: job.failedAttempts + 1 };
      case "giveUp":
        return { jobId, fence, kind: "giveUp" };
      case "start":
        return { jobId, fence, kind: "start" };
    }
  }

  private async extendLeases(): Promise<Verb> {
    const jobs = (await this.#leased()).map(({ id, fence }) => ({ jobId: id, fence, hasStarted: true }));
    const profile = { role: "both", isResident: true, tasks: TASKS, executors: ["inline"] } as const;
    const aliveUntil = this.#random.pick([null, this.now + 20_000]);
    const fields = {
      now: this.now,
      schedulerId: this.#scheduler(),
      until: this.now + LEASE_MS / 5,
      aliveUntil,
      profile,
    };
    return (store) => extend(store, jobs, fields);
  }

  private async saveJobStep(): Promise<Verb> {
    const random = this.#random;
    const [job] = await this.#leased();
    const nothing = { wakeAt: null, version: null, cursor: random.pick(TEXTS) };
    const name = random.pick(["one", "two"]);
    const step = { name, startedAt: this.now, endedAt: random.pick([null, this.now]), attempts: 1, value: '"\\u0000"' };
    const lease = { schedulerId: job?.acquiredBy ?? "nobody", jobId: job?.id ?? "none", fence: job?.fence ?? 1 };
    const at = { now: this.now, until: this.now + LEASE_MS / 5, number: ++this.#names, isFirst: false };
    return (store) => store.saveJobStep({ ...lease, ...at, step: { ...step, ...nothing } });
  }

  private async giveUpLeases(): Promise<Verb> {
    const schedulerId = this.#scheduler();
    const request = { now: this.now, schedulerId, instanceId: `${schedulerId} 2#`, aliveUntil: null };
    return (store) => store.giveUpLeases(request);
  }

  private async cancelJobs(): Promise<Verb> {
    const { items } = await this.#store.getJobs({ limit: 20, cursor: null });
    const ids = [...items.filter(() => this.#random.chance(0.1)).map(({ id }) => id), "none"];
    const { now } = this;
    return (store) => store.cancelJobs(ids, now);
  }

  private async cleanup(): Promise<Verb> {
    const request = { now: this.now, limit: 100 };
    return (store) => store.cleanup(request);
  }

  private async removeJobResults(): Promise<Verb> {
    const { items } = await this.#store.getJobResults({ limit: 5, cursor: null, order: "oldest" }, this.now);
    const jobIds = [...items.filter(() => this.#random.chance(0.5)).map(({ jobId }) => jobId), "none"];
    return (store) => store.removeJobResults({ jobIds }, jobIds.length);
  }

  private async removeTask(): Promise<Verb> {
    const id = this.#random.pick(TASKS);
    return (store) => store.removeTask(id);
  }

  #scheduler(): string {
    return this.#random.pick(["scheduler-a", "scheduler-b"]);
  }

  #commitId(): string {
    return `scheduler 1#${String(++this.#names).padStart(9, "0")}`;
  }

  async #leased(): Promise<readonly JobRecord[]> {
    return (await this.#store.getJobs({ limit: 20, cursor: null, state: "running" })).items;
  }

  /** What people read, with filters that the seed draws. */
  reads(): readonly Verb[] {
    const random = this.#random;
    const { now } = this;
    const page = { limit: random.pick([3, 100]), cursor: null };
    const some = random.pick([{}, { taskId: random.pick(TASKS) }, { labels: { tenant: random.pick(KEYS) } }]);
    const state = random.pick([{}, { state: random.pick(["queued", "blocked", "running"] as const) }]);
    const found = random.pick([{}, { search: random.pick(["OB 1", "x", "'"]) }, { key: random.pick(KEYS) }]);
    const sort = random.pick([{}, { sort: "runAt" as const }]);
    const bySort = random.pick(["id", "nextFireTime"] as const);
    const order = random.pick(["oldest", "newest"] as const);
    const day = 86_400_000;
    const from = Math.floor(T0 / day) * day;
    const of = random.pick(["all", "tasks", "schedules"] as const);
    const bucketMs = of === "schedules" ? day : random.pick([day, day / 24]);
    const ids = of === "all" ? {} : random.pick([{}, { ids: [random.pick(of === "tasks" ? TASKS : ["s", "t", "u"])] }]);
    return [
      (store) => store.getJobs({ ...page, ...some, ...state, ...found, ...sort, order }),
      async (store) => {
        const { items } = await store.getJobResults({ limit: 1000, cursor: null, ...some, ...found, order }, now);
        return byEnd(items);
      },
      (store) => store.getSchedules({ ...page, sort: bySort }),
      (store) => store.getTaskPauses(),
      (store) => store.getTasks(),
      (store) => store.getBlackouts(),
      (store) => store.getSchedulers(now),
      async (store) => {
        const { items, seen } = await store.getFailures({ limit: 100 }, now);
        return { items: byEnd(items), seen };
      },
      (store) => look(store, { now, by: "scheduler-a", queues: QUEUES, schedules: {}, asksForExpired: true }),
      async (store) =>
        (await store.ledger?.getStats({ of, from, until: from + day, bucketMs, limit: 10, ...ids })) ?? null,
      async (store) => {
        const inspection = await store.inspect(now);
        // Of jobs that are due at the same instant, each may be the oldest. The store in memory holds a job of a full
        // task at once.
        const tasks = this.#hasFlow ? inspection.tasks : inspection.tasks.map(({ blocked: _, ...counts }) => counts);
        return { ...inspection, storeNow: null, tasks, oldestDueJob: inspection.oldestDueJob?.runAt };
      },
    ];
  }
}

/** Results and failures by their ends. Jobs that end in one write do so at the same instant, in any order. */
function byEnd<T extends { readonly finishedAt: number; readonly jobId: string }>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => a.finishedAt - b.finishedAt || (a.jobId < b.jobId ? -1 : 1));
}

/** Runs the same random verbs on all stores, and compares every answer with that of the first store. Returns how often
 *  each verb came. */
export async function agree(
  [first, ...others]: readonly [DataStore, ...DataStore[]],
  options: AgreementOptions,
): Promise<Map<string, number>> {
  const { seed, count, isLossy } = options;
  const verbs = new RandomVerbs(first, options);
  for (const store of [first, ...others]) {
    await store.open(T0);
    await store.putTasks(TASKS.map((id) => makeTask({ id })));
  }
  const counts = new Map<string, number>();
  for (let nth = 0; nth < count; nth++) {
    const [name, verb] = await verbs.next();
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const asked = [verb, ...(nth % 5 === 0 ? verbs.reads() : [])];
    for (const [index, ask] of asked.entries()) {
      const answer = await outcome(ask, first, verbs.now);
      for (const store of others) {
        const about = `seed ${seed}, verb ${nth} (${index === 0 ? name : `read ${index}`})`;
        const given = await outcome(ask, store, verbs.now);
        // A repetition knows what it holds, and may not know what else the try did whose answer was lost.
        if (index > 0 || !isLossy) expect(given, about).toEqual(answer);
        else expect(Object(given).acquired, about).toEqual(Object(answer).acquired);
      }
    }
  }
  return counts;
}

/** An answer, or the class of an error. */
async function outcome(ask: Verb, store: DataStore, now: number): Promise<unknown> {
  try {
    return comparable(await ask(store), now);
  } catch (error) {
    return (error as Error).constructor.name;
  }
}

/** Lists of reports that have no order. */
const UNORDERED = new Set(["recovered", "ended", "admitted", "lost", "jobs", "counts"]);
/** Texts of cursors, numbers that only grow, and how large a store says that a schedule is. */
const CHOSEN = new Set(["cursor", "version", "blackouts", "bytes"]);

/** An answer without what stores may choose. */
function comparable(answer: unknown, now: number): unknown {
  if (typeof answer !== "object" || answer === null) return answer;
  if (Array.isArray(answer)) return answer.map((item) => comparable(item, now));
  const { leaseEndsAt } = answer as { readonly leaseEndsAt?: number | null };
  // It means nothing while a lease waits for recovery.
  const isVague = typeof leaseEndsAt === "number" && leaseEndsAt <= now;
  const fields = Object.entries(answer).map(([name, value]) => {
    if (CHOSEN.has(name) || (name === "hasReady" && isVague)) return [name, value !== null];
    const compared = comparable(value, now);
    if (!UNORDERED.has(name) || !Array.isArray(compared)) return [name, compared];
    return [name, compared.map((one) => JSON.stringify(one)).sort()];
  });
  return Object.fromEntries(fields);
}
