import { DurableObject } from "cloudflare:workers";
import { attachScheduler, type ObjectContext } from "../../../src/cloudflare/mod.ts";
import { SchedulerDurableObject } from "../../../src/cloudflare/workerd.ts";
import { DateTrigger, IntervalTrigger, type JobContext, type Scheduler } from "../../../src/mod.ts";

// The Worker of durable-object.node.test.ts. A POST to /BINDING/NAME/METHOD calls a method of an object remotely.

interface Env {
  readonly RECORDER: Namespace<Recorder>;
}

interface Namespace<T> {
  idFromName(name: string): object;
  get(id: object): T;
}

/** What the platform has beside what the library needs of it. */
interface Context extends ObjectContext {
  readonly id: { readonly name?: string };
  abort(reason: string): void;
}

export interface Run {
  readonly job: string;
  /** The run of the object in which it was. */
  readonly birth: string;
  /** The alarm that was set meanwhile, in epoch milliseconds. */
  readonly alarm: number | null;
}

/** How an object is. */
export interface Seen {
  readonly birth: string;
  /** When the alarm is set to go off, in epoch milliseconds; null when none is. */
  readonly alarm: number | null;
}

/** Keeps what another object tells, so that a test need not touch that object. */
export class Recorder extends DurableObject {
  #sql = (this.ctx as Context).storage.sql;

  record(run: Run): void {
    this.#sql.exec("CREATE TABLE IF NOT EXISTS runs (run TEXT)");
    this.#sql.exec("INSERT INTO runs VALUES (?)", JSON.stringify(run));
  }

  runs(): Run[] {
    this.#sql.exec("CREATE TABLE IF NOT EXISTS runs (run TEXT)");
    const rows = this.#sql.exec("SELECT run FROM runs ORDER BY rowid").toArray();
    return rows.map(({ run }) => JSON.parse(String(run)));
  }
}

/** An object with whatever may happen to it. */
export class Jobs extends SchedulerDurableObject<Env> {
  readonly #ctx: Context;
  readonly #birth: string = crypto.randomUUID();
  #ticksToFail = 0;
  #thrown = 0;
  #beats = 0;
  readonly #afterBeat: ((value: null) => void)[] = [];

  constructor(ctx: Context, env: Env) {
    super(ctx, env, { scheduler: { logLevel: "silent" } });
    this.#ctx = ctx;
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS runs (job TEXT, birth TEXT, ended INTEGER)");
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS faults (name TEXT PRIMARY KEY, count INTEGER)");
  }

  protected override configure(scheduler: Scheduler): void {
    if (this.#take("beginning")) throw new Error("the object cannot begin");
    const busy = { maxRunningJobs: null };
    scheduler.task("hit", busy, (pauseMs: number, context) => this.#hit(pauseMs, context));
    scheduler.task("waitsForBeats", async (count: number) => {
      while (this.#beats < count) await new Promise((resolve) => this.#afterBeat.push(resolve));
    });
    scheduler.task("beat", () => {
      this.#beats++;
      for (const resolve of this.#afterBeat.splice(0)) resolve(null);
    });
    scheduler.task("cut", async (_, { job }) => this.#cut(job.id));
    scheduler.task("fails", { retry: { maxAttempts: 8, backoff: { initial: { milliseconds: 1 }, factor: 1 } } }, () => {
      if (++this.#thrown < 8) throw new Error("not yet");
      return "done";
    });
  }

  override async alarm(): Promise<void> {
    // A tick refuses to begin while a task lacks its executor.
    const executor = this.#ticksToFail-- > 0 ? "nowhere" : "inline";
    this.scheduler.task("broken", { executor }, () => {});
    await super.alarm();
  }

  // ---- what a test does to the object

  /** Adds schedules that fire once each, all within a time. */
  async spread(count: number, spanMs: number): Promise<void> {
    const first = Date.now() + 500;
    for (let index = 0; index < count; index++) {
      const at = new Date(first + Math.floor((index * spanMs) / count));
      await this.scheduler.addSchedule("hit", new DateTrigger(at), { id: `hit-${index}`, payload: index % 7 });
    }
  }

  failTicks(count: number): void {
    this.#ticksToFail = count;
  }

  /** Lets the object fail to begin so many times. */
  async failToBegin(count: number): Promise<void> {
    this.#ctx.storage.sql.exec("INSERT OR REPLACE INTO faults VALUES ('beginning', ?)", count);
    await this.#ctx.storage.sync();
  }

  /** Moves the alarm to the present: the test need not wait for it. */
  async hurry(): Promise<boolean> {
    const isSet = (await this.#ctx.storage.getAlarm()) !== null;
    if (isSet) await this.#ctx.storage.setAlarm(Date.now());
    return isSet;
  }

  async deleteAlarm(): Promise<void> {
    await this.#ctx.storage.deleteAlarm();
    await this.#ctx.storage.sync();
  }

  async repeatAlarm(times: number): Promise<void> {
    await Promise.all(Array.from({ length: times }, () => this.alarm()));
  }

  abort(): void {
    this.#ctx.abort("the test asked for it");
  }

  // ---- what a test sees of it

  async seen(): Promise<Seen> {
    return { birth: this.#birth, alarm: await this.#ctx.storage.getAlarm() };
  }

  runs(): { job: string; birth: string; ended: number }[] {
    return this.#ctx.storage.sql.exec("SELECT * FROM runs ORDER BY rowid").toArray() as never;
  }

  /** How many results there are of each outcome, how many schedules have one, and how many jobs are unfinished. */
  counts(): object {
    const { sql } = this.#ctx.storage;
    const [results] = sql
      .exec(
        "SELECT count(*) AS results, count(DISTINCT schedule_id) AS schedules, " +
          "coalesce(sum(outcome = 'success'), 0) AS successes FROM escapement_results",
      )
      .toArray();
    const [jobs] = sql.exec("SELECT count(*) AS unfinished FROM escapement_jobs").toArray();
    return { ...results, ...jobs };
  }

  async #hit(pauseMs: number, { job, attempt }: JobContext): Promise<number> {
    const { sql } = this.#ctx.storage;
    sql.exec("INSERT INTO runs VALUES (?, ?, 0)", job.id, this.#birth);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    sql.exec("UPDATE runs SET ended = 1 WHERE job = ? AND birth = ?", job.id, this.#birth);
    return attempt;
  }

  /** Ends the object in the middle of its first attempt. */
  async #cut(job: string): Promise<void> {
    const alarm = await this.#ctx.storage.getAlarm();
    const recorder = this.env.RECORDER.get(this.env.RECORDER.idFromName(job));
    const isFirst = (await recorder.runs()).length === 0;
    await recorder.record({ job, birth: this.#birth, alarm });
    if (isFirst) this.#ctx.abort("cut in the middle of a job");
  }

  #take(fault: string): boolean {
    const { sql } = this.#ctx.storage;
    const [row] = sql.exec("SELECT count FROM faults WHERE name = ? AND count > 0", fault).toArray();
    if (row === undefined) return false;
    sql.exec("UPDATE faults SET count = count - 1 WHERE name = ?", fault);
    return true;
  }
}

/** An object with a scheduler beside its own methods, which counts the rows that are written. */
export class Rows extends DurableObject<Env> {
  #rowsWritten = 0;
  readonly #rowsOfFires: number[] = [];
  #runs = 0;
  readonly #context = this.ctx as Context;
  readonly #jobs = attachScheduler(
    this.#counting(),
    (scheduler) => {
      scheduler.task("count", () => {
        this.#runs++;
      });
      // Its first attempt ends when it is told to.
      scheduler.task("slow", async (_, { attempt, signal }) => {
        const aborted = (reject: (reason: unknown) => void): void =>
          signal.addEventListener("abort", () => reject(signal.reason));
        if (attempt === 1) await new Promise((_resolve, reject) => aborted(reject));
        return attempt;
      });
    },
    { scheduler: { logLevel: "silent" }, tick: { maxDuration: { seconds: 1 } } },
  );

  async alarm(): Promise<void> {
    const [rows, runs] = [this.#rowsWritten, this.#runs];
    await this.#jobs.alarm();
    if (this.#runs === runs + 1) this.#rowsOfFires.push(this.#rowsWritten - rows);
  }

  async every(ms: number): Promise<void> {
    await this.#jobs.scheduler.addSchedule("count", new IntervalTrigger({ milliseconds: ms }), { id: "every" });
  }

  async stop(): Promise<object> {
    await this.#jobs.scheduler.removeSchedule("every");
    return { alarm: await this.#context.storage.getAlarm() };
  }

  async runSlowly(): Promise<object | null> {
    const { id } = await this.#jobs.scheduler.addJob("slow");
    return this.#jobs.remote.getJobResult(id, { wait: true });
  }

  /** Adds a job, and at the end of the tick that runs it one more in a transaction of the object's own. */
  async addAtTheEnd(): Promise<void> {
    const { scheduler } = this.#jobs;
    const { storage } = this.#context;
    const { statements } = await scheduler.prepareJob("count");
    const add = (): void => {
      for (const { sql, args } of statements) storage.sql.exec(sql, ...args).toArray();
    };
    scheduler.subscribe(
      "jobReleased",
      () => {
        storage.transactionSync(add);
        void this.#jobs.rearm();
      },
      { once: true },
    );
    await scheduler.addJob("count");
  }

  async state(): Promise<{ runs: number; alarm: number | null }> {
    return { runs: this.#runs, alarm: await this.#context.storage.getAlarm() };
  }

  rowsOfFires(): number[] {
    return this.#rowsOfFires;
  }

  #counting(): ObjectContext {
    const { storage } = this.#context;
    const exec: typeof storage.sql.exec = (sql, ...values) => {
      const cursor = storage.sql.exec(sql, ...values);
      return {
        toArray: () => {
          const rows = cursor.toArray();
          this.#rowsWritten += (cursor as unknown as { readonly rowsWritten: number }).rowsWritten;
          return rows;
        },
      };
    };
    return {
      storage: {
        sql: { exec },
        transactionSync: (run) => storage.transactionSync(run),
        getAlarm: () => storage.getAlarm(),
        setAlarm: (at) => storage.setAlarm(at),
        deleteAlarm: () => storage.deleteAlarm(),
        sync: () => storage.sync(),
      },
      blockConcurrencyWhile: (run) => this.#context.blockConcurrencyWhile(run),
    };
  }
}

export default {
  async fetch(request: Request, env: Record<string, Namespace<Record<string, (...args: unknown[]) => unknown>>>) {
    const [, kind = "", name = "", method = ""] = new URL(request.url).pathname.split("/");
    const namespace = env[kind];
    const stub = namespace?.get(namespace.idFromName(name));
    try {
      const value = await stub?.[method]?.(...((await request.json()) as unknown[]));
      return Response.json({ value: value ?? null });
    } catch (error) {
      const { name: errorName, message, code } = error as { name: string; message: string; code?: string };
      return Response.json({ error: { name: errorName, message, code } });
    }
  },
};
