import type { JobRecord } from "../../records/job.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { CommitReport, DataStore } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import { FlowModel, Numbers } from "./flow-model.ts";
import { cancel, commit, finish, makeJob, numbered, T0 } from "./makers.ts";

const ROUNDS = 150;
const LEASE_MS = 400;

/** The tasks, with the limits that they may have. */
const TASKS: readonly (readonly Partial<TaskRecord>[])[] = [
  [1, 2, 3].map((maxRunningPerKey) => ({ id: "keys", maxRunningPerKey })),
  [{ id: "rates", rateLimit: { limit: 10, perMs: 1000, burst: 3 }, maxRunningPerKey: 3 }],
  [{ id: "turns", fair: true, maxRunningJobs: 3 }, { id: "turns", maxRunningPerKey: 2 }, { id: "turns" }],
  [{ id: "all", fair: true, maxRunningPerKey: 1, rateLimit: { limit: 20, perMs: 1000, burst: 1 } }],
  [{ id: "none" }],
];
const QUEUES = TASKS.map(([task]) => ({ executor: "inline", taskId: task?.id ?? "" }));
const KEYS = [undefined, "k", "l", "m"];

/** A store to which happens what the numbers say, and a model that watches it. */
class Story {
  readonly #stores: readonly DataStore[];
  readonly #numbers: Numbers;
  readonly #model = new FlowModel();
  #now = T0;
  #jobs = 0;

  constructor(stores: readonly DataStore[], seed: number) {
    this.#stores = stores;
    this.#numbers = new Numbers(seed);
  }

  async run(): Promise<void> {
    await this.#store.putTasks(TASKS.map(([fields]) => this.#model.setTask(fields ?? {})));
    for (let round = 0; round < ROUNDS; round++) {
      const numbers = this.#numbers;
      this.#now += numbers.below(60);
      const jobs = Array.from({ length: numbers.below(5) }, () => this.#newJob());
      const areSteps = numbers.below(2) === 0;
      if (!areSteps && jobs.length > 0) await this.#store.addJobs(jobs);
      for (const job of jobs) this.#model.waiting.set(job.id, job);
      if (numbers.below(10) === 0) await this.#cancel();
      if (numbers.below(10) === 0) await this.#pause(numbers.below(2) === 0);
      if (numbers.below(10) === 0) await this.#change();
      await this.#commit(areSteps ? jobs : [], numbers.below(7));
    }
    await this.#goOn();
    await this.#drain();
  }

  get #store(): DataStore {
    return this.#numbers.oneOf(this.#stores);
  }

  #newJob(): JobRecord {
    const numbers = this.#numbers;
    const concurrencyKey = numbers.oneOf(KEYS);
    return makeJob({
      id: numbered("job", this.#jobs++),
      taskId: numbers.oneOf(QUEUES).taskId,
      priority: numbers.below(3) - 1,
      createdAt: this.#now,
      runAt: this.#now + numbers.oneOf([0, 0, 200]),
      maxRecoveries: 1000,
      ...(concurrencyKey === undefined ? {} : { concurrencyKey }),
    });
  }

  async #commit(additions: readonly JobRecord[], limit: number, isLast = false): Promise<CommitReport> {
    const by = this.#numbers.oneOf(["scheduler-a", "scheduler-b"]);
    const [now, until] = [this.#now, this.#now + LEASE_MS];
    const releases = isLast
      ? [...this.#model.leases.values()].filter((lease) => lease.by === by).map(({ job }) => finish(job))
      : this.#model.releases(this.#numbers, by, now);
    const fields = { now, until, by, limit, queues: QUEUES, recover: true, additions, releases };
    const report = await commit(this.#store, fields);
    this.#model.learn(report, releases, by, now, until);
    this.#model.checkRest(report, now);
    return report;
  }

  async #cancel(): Promise<void> {
    const leased = [...this.#model.leases.values()].map(({ job }) => job);
    const jobs = [...this.#model.waiting.values(), ...leased];
    if (jobs.length === 0) return;
    const job = this.#numbers.oneOf(jobs);
    // An addition of this round may be on its way.
    const { status } = await cancel(this.#store, job.id, this.#now);
    if (status === "cancelled") this.#model.waiting.delete(job.id);
  }

  async #pause(isPaused: boolean): Promise<void> {
    const { taskId } = this.#numbers.oneOf(QUEUES);
    const pause = { taskId, key: this.#numbers.oneOf(KEYS) ?? null };
    equal(await this.#store.pauseTask({ ...pause, paused: isPaused, now: this.#now }), true, "the answer to a pause");
    this.#model.setPaused(pause, isPaused);
  }

  async #change(): Promise<void> {
    await this.#store.putTasks([this.#model.setTask(this.#numbers.oneOf(this.#numbers.oneOf(TASKS)))]);
  }

  async #goOn(): Promise<void> {
    for (const pause of await this.#store.getTaskPauses()) {
      await this.#store.pauseTask({ ...pause, paused: false, now: this.#now });
      this.#model.setPaused(pause, false);
    }
  }

  /** Runs all jobs to their end, at the instants that the commits tell. */
  async #drain(): Promise<void> {
    for (let commits = 0; this.#model.waiting.size + this.#model.leases.size > 0; commits++) {
      equal(commits < 2000, true, "whether the jobs come to an end");
      const { nextRunAt, hasReady, acquired } = await this.#commit([], 100, true);
      if (!hasReady && acquired.length === 0 && this.#model.leases.size === 0 && this.#model.waiting.size > 0) {
        this.#now = present(nextRunAt, "the instant of the next job");
      }
    }
    equal((await this.#store.getJobs({ limit: 1000, cursor: null })).items, [], "the jobs at the end");
  }
}

export const flowModelCases: readonly DataStoreCase[] = [1, 2, 3].map((seed) => ({
  name: `flow control: no limit is exceeded and no job is forgotten, whatever happens (${seed})`,
  rules: ["F3", "F4", "Q6", "Q11"],
  async run(context) {
    await new Story(await openTwo(context), seed * 7919).run();
  },
}));
