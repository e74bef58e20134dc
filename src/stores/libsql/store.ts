import { StoreUnavailableError } from "../../core/errors.ts";
import { systemRandom } from "../../core/ids.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { TaskRecord } from "../../records/task.ts";
import { JSONSerializer } from "../../serializers/json.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import type * as contract from "../data-store.ts";
import type { LibsqlClient } from "./client.ts";
import { Connection } from "./connection.ts";
import { unavailable } from "./failures.ts";
import { LibsqlJobs } from "./jobs.ts";
import { migrate } from "./migrations.ts";
import { databaseKind, filePragmas, openClient, shownUrl } from "./open-client.ts";
import {
  type CheckedOptions,
  checkConnection,
  checkOptions,
  type LibsqlConnection,
  type LibsqlStoreOptions,
} from "./options.ts";
import { reopeningOurs, reopeningTheirs } from "./reopening.ts";
import { LibsqlResults } from "./results.ts";
import { LibsqlSchedules } from "./schedules.ts";
import { MIGRATIONS, tableNames } from "./schema.ts";
import { makeStatements } from "./statements.ts";
import { LibsqlTasks } from "./tasks.ts";
import { LibsqlTurns } from "./turn.ts";

/** What a store consists of once it is open. */
interface OpenStore {
  readonly connection: Connection;
  readonly tasks: LibsqlTasks;
  readonly schedules: LibsqlSchedules;
  readonly jobs: LibsqlJobs;
  readonly turns: LibsqlTurns;
  readonly results: LibsqlResults;
  readonly close: () => void;
}

/**
 * Keeps everything in a libSQL database: a file, memory, a server (sqld, Turso), or an embedded replica of one. Many
 * schedulers, in many processes, may share a database.
 *
 * ```ts
 * const store = new LibsqlDataStore({ url: "file:jobs.db" });
 * await using scheduler = new Scheduler({ dataStore: store });
 * ```
 *
 * With a `client` that you made, see that it has one connection to a file (`concurrency: 1`), and close it yourself.
 * The store opens that connection anew (`reconnect`) when others kept the file locked, with SQLite's usual settings kept.
 * Failures that pass (a busy database, a lost connection) are repeated for a few seconds before a method rejects with
 * `StoreUnavailableError`.
 */
export class LibsqlDataStore implements contract.DataStore {
  readonly serializer: Serializer;
  readonly capabilities: contract.StoreCapabilities;
  readonly #connection: LibsqlConnection;
  readonly #options: CheckedOptions;
  #opening: Promise<OpenStore> | null = null;
  #open: OpenStore | null = null;

  /** @throws {OptionsError} when an option is unknown, of a wrong type or out of range */
  constructor(connection: LibsqlConnection, options: LibsqlStoreOptions = {}) {
    checkConnection(connection);
    this.#connection = { ...connection };
    this.#options = checkOptions(options);
    this.serializer = this.#options.serializer ?? new JSONSerializer();
    const isPrivate = "url" in connection && databaseKind(connection) === "memory";
    this.capabilities = Object.freeze({ sharedByProcesses: !isPrivate });
  }

  async open(now: number): Promise<void> {
    this.#opening ??= this.#openStore(now);
    const opening = this.#opening;
    try {
      this.#open = await opening;
    } catch (error) {
      // So that it can be tried again.
      if (this.#opening === opening) this.#opening = null;
      throw error;
    }
  }

  async close(): Promise<void> {
    const open = await this.#opening?.catch(() => null);
    this.#opening = null;
    this.#open = null;
    await open?.connection.close();
    open?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async putTasks(tasks: readonly TaskRecord[]): Promise<("added" | "updated" | "unchanged")[]> {
    return this.#opened.tasks.put(tasks);
  }

  async getTasks(): Promise<TaskRecord[]> {
    return this.#opened.tasks.getAll();
  }

  async getTask(id: string): Promise<TaskRecord | null> {
    return this.#opened.tasks.get(id);
  }

  async removeTask(id: string): Promise<"removed" | "inUse" | "missing"> {
    return this.#opened.tasks.remove(id);
  }

  async addSchedules(additions: readonly contract.ScheduleAddition[]): Promise<contract.ScheduleAdditionReport> {
    return this.#opened.schedules.add(additions);
  }

  async getSchedule(id: string): Promise<ScheduleRecord | null> {
    return this.#opened.schedules.get(id);
  }

  async getSchedules(filter: contract.ScheduleFilter): Promise<contract.RecordPage<ScheduleRecord>> {
    return this.#opened.schedules.getPage(filter);
  }

  async updateSchedule(
    id: string,
    changes: contract.ScheduleChanges,
    expectedFence?: number,
  ): Promise<ScheduleRecord | null> {
    return this.#opened.schedules.update(id, changes, expectedFence);
  }

  async removeSchedule(id: string): Promise<boolean> {
    return this.#opened.schedules.remove(id);
  }

  async acquireSchedules(request: contract.ScheduleAcquisition): Promise<contract.ScheduleAcquisitionReport> {
    return this.#opened.schedules.acquire(request);
  }

  async commitPlans(commit: contract.PlanCommit): Promise<contract.PlanCommitReport> {
    return this.#opened.schedules.commit(commit);
  }

  /** Calls that come while an insert is in flight travel together in the next one. */
  async addJobs(jobs: readonly JobRecord[]): Promise<contract.JobAddition[]> {
    return this.#opened.jobs.add(jobs);
  }

  async getJob(id: string): Promise<JobRecord | null> {
    return this.#opened.jobs.get(id);
  }

  async getJobs(filter: contract.JobFilter): Promise<contract.RecordPage<JobRecord>> {
    return this.#opened.jobs.getPage(filter);
  }

  async turn(request: contract.TurnRequest): Promise<contract.TurnReport> {
    return this.#opened.turns.turn(request);
  }

  async extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    return this.#opened.jobs.extendLeases(extension);
  }

  async giveUpLeases(request: {
    readonly now: number;
    readonly schedulerId: string;
  }): Promise<contract.RecoveryReport> {
    return this.#opened.jobs.giveUpLeases(request);
  }

  async cancelJob(id: string, now: number): Promise<contract.CancelReport> {
    return this.#opened.jobs.cancel(id, now);
  }

  async getJobResult(jobId: string, now: number): Promise<JobResultRecord | null> {
    return this.#opened.results.get(jobId, now);
  }

  async getJobResults(filter: contract.JobResultFilter, now: number): Promise<contract.RecordPage<JobResultRecord>> {
    return this.#opened.results.getPage(filter, now);
  }

  async cleanup(request: { readonly now: number; readonly limit: number }): Promise<contract.CleanupReport> {
    return this.#opened.results.cleanup(request);
  }

  get #opened(): OpenStore {
    if (this.#open === null) throw new StoreUnavailableError("the data store is not open: await open() first");
    return this.#open;
  }

  async #openStore(now: number): Promise<OpenStore> {
    const { tablePrefix, timeoutMs } = this.#options;
    const where = "client" in this.#connection ? "the database" : shownUrl(this.#connection.url);
    const client = await this.#openClient(where);
    const isOurs = !("client" in this.#connection);
    try {
      const isLocal = client.protocol === "file";
      const pragmas =
        !("client" in this.#connection) && databaseKind(this.#connection) === "file"
          ? filePragmas(this.#options.durability)
          : null;
      const withoutReopening = { where, random: systemRandom, timeoutMs: isLocal ? null : timeoutMs, reopen: null };
      const reopen = isOurs
        ? // The journal mode is the file's own and needs its lock; the rest is the connection's.
          pragmas && reopeningOurs(client, pragmas.slice(1))
        : await new Connection(client, withoutReopening).run("reading from", () => reopeningTheirs(client));
      const options = { ...withoutReopening, reopen };
      const connection = new Connection(client, options);
      for (const sql of pragmas ?? []) await connection.read({ sql, args: [] });
      if (!("client" in this.#connection) && databaseKind(this.#connection) === "replica") {
        // A new replica is empty: without this its tables would seem to be missing.
        await connection.run("synchronizing", async () => client.sync?.());
      }
      const names = tableNames(tablePrefix);
      await migrate(connection, names, MIGRATIONS, now);
      const statements = makeStatements(names);
      return {
        connection,
        tasks: new LibsqlTasks(connection, statements),
        schedules: new LibsqlSchedules(connection, statements),
        jobs: new LibsqlJobs(connection, statements),
        turns: new LibsqlTurns(connection, statements),
        results: new LibsqlResults(connection, statements),
        close: () => {
          if (isOurs) client.close();
        },
      };
    } catch (error) {
      if (isOurs) client.close();
      throw error;
    }
  }

  async #openClient(where: string): Promise<LibsqlClient> {
    if ("client" in this.#connection) return this.#connection.client;
    try {
      return await openClient(this.#connection, this.#options.timeoutMs);
    } catch (error) {
      throw unavailable("opening", where, error);
    }
  }
}
