import { StoreUnavailableError } from "../../core/errors.ts";
import { systemRandom } from "../../core/ids.ts";
import { JoinedCall } from "../../core/joined-call.ts";
import type { BlackoutRecord } from "../../records/blackout.ts";
import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { JobLogRecord } from "../../records/job-log.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { JobStepRecord } from "../../records/job-step.ts";
import type { AuditRecord } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { SchedulerRecord } from "../../records/scheduler.ts";
import type { TaskRecord } from "../../records/task.ts";
import { JSONSerializer } from "../../serializers/json.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import type { LedgerLimits } from "../contract/ledger-types.ts";
import type { ZoneRulesStore } from "../contract/zone-rules-types.ts";
import type * as contract from "../data-store.ts";
import { LEDGER_DEFAULT } from "../shared/ledger-option.ts";
import { CleanUp } from "./commit/clean-up.ts";
import { SqlCommits } from "./commit/commits.ts";
import type { Schema, SqlDialect } from "./dialect.ts";
import { Connection, type TripCount } from "./driver/connection.ts";
import type { SqlDriver, SqlStatement } from "./driver/driver-and-failures.ts";
import type { FlowState } from "./flow-control/key-limiters.ts";
import { SqlTasks } from "./flow-control/tasks.ts";
import { type OpenLedger, SqlLedger } from "./history/ledger-reads.ts";
import { SqlBackfills } from "./jobs/backfills.ts";
import { SqlJobs } from "./jobs/job-commands-and-lists.ts";
import { SqlLeases } from "./jobs/leases-and-heartbeats.ts";
import { readLogs } from "./jobs/logs-of-jobs.ts";
import { SqlResults } from "./jobs/results.ts";
import { SqlJobSteps } from "./jobs/steps-of-jobs.ts";
import { REMOTE_TIMEOUT_MS_DEFAULT, type RetryLimits } from "./limits.ts";
import { inspect } from "./lists/inspection.ts";
import { hasLabelled } from "./lists/label-index.ts";
import { SqlBlackouts } from "./schedules/blackouts.ts";
import { SqlSchedules } from "./schedules/schedule-commands-and-lists.ts";
import { SqlZoneRules } from "./schedules/zone-rules.ts";
import { LateTriggers } from "./schema/late-triggers.ts";

/** Options of every store on SQL. */
export interface SqlDataStoreOptions {
  /** The name of the database in errors; it must hold no token. Default: `"the database"`. */
  readonly where?: string | undefined;
  /** Whether other processes may write to the same data. Default: true. */
  readonly sharedByProcesses?: boolean | undefined;
  /** The text with which the names of all tables begin: letters, digits and `_`. It is not checked. Default:
   *  `"escapement_"`. */
  readonly tablePrefix?: string | undefined;
  /** Turns payloads and return values into text. Default: a `JSONSerializer`. */
  readonly serializer?: Serializer | undefined;
  /** Longest wait for one answer of a database that is not local, in milliseconds. Default: 10 seconds. */
  readonly timeoutMs?: number | undefined;
  /** Whether the first `open` drops the tables of the prefix and makes them anew, empty. Default: false. */
  readonly reset?: boolean | undefined;
  /** How long an operation is repeated that fails for a passing reason. What is not given has its default. */
  readonly retry?: Partial<RetryLimits> | undefined;
  /** How much the store remembers of what became of fire times; null for nothing. Default: 5,000 entries of a schedule,
   *  for 90 days. */
  readonly ledger?: LedgerLimits | null | undefined;
}

/** What a store consists of once it is open. */
interface OpenStore {
  readonly connection: Connection;
  readonly schema: Schema;
  readonly tasks: SqlTasks;
  readonly schedules: SqlSchedules;
  readonly blackouts: SqlBlackouts;
  readonly jobs: SqlJobs;
  readonly backfills: SqlBackfills;
  readonly leases: SqlLeases;
  readonly commits: SqlCommits;
  readonly jobSteps: SqlJobSteps;
  readonly results: SqlResults;
  readonly cleanUp: CleanUp;
  readonly ledger: OpenLedger;
  readonly labels: LateTriggers;
  readonly logs: LateTriggers;
  readonly readLogs: (jobId: string, now: number) => Promise<JobLogRecord[]>;
  readonly zoneRules: SqlZoneRules;
  /** How a row with an id and a text is inserted that means nothing, and how it is removed. */
  readonly probe: readonly [insert: string, remove: string];
  readonly inspect: (now: number, options: contract.InspectionOptions) => Promise<contract.StoreInspection>;
}

/** Keeps everything in a database of some kind of SQL, over a driver. Many schedulers, in many processes, may share the
 *  database. */
export class StoreInSql implements contract.DataStore {
  readonly serializer: Serializer;
  /** The version of the tables that this library makes and knows. */
  readonly schemaVersion: number;
  /** Whether other processes reach the database. */
  readonly capabilities: contract.StoreCapabilities;
  readonly ledger: SqlLedger | null;
  readonly zoneRules: ZoneRulesStore = Object.freeze<ZoneRulesStore>({
    rank: (request) => this.#use((open) => open.zoneRules.rank(request)),
    getSchedules: (request) => this.#use((open) => open.zoneRules.getSchedules(request)),
    confirm: (confirmations) => this.#use((open) => open.zoneRules.confirm(confirmations)),
  });
  readonly #driver: SqlDriver;
  readonly #dialect: SqlDialect;
  readonly #options: SqlDataStoreOptions;
  readonly #trips: TripCount = { count: 0 };
  readonly #opening = new JoinedCall(() => this.#openStore());
  #openedAt = 0;
  /** Whether the tables are still to be emptied. Only the first opening that succeeds does so. */
  #isToReset: boolean;
  #open: OpenStore | null = null;

  /** @internal */
  constructor(driver: SqlDriver, dialect: SqlDialect, options: SqlDataStoreOptions) {
    this.#driver = driver;
    this.#dialect = dialect;
    this.schemaVersion = dialect.schemaVersion;
    this.#options = options;
    this.#isToReset = options.reset ?? false;
    this.serializer = options.serializer ?? new JSONSerializer();
    this.capabilities = Object.freeze({ sharedByProcesses: options.sharedByProcesses ?? true });
    const { ledger = LEDGER_DEFAULT } = options;
    this.ledger = ledger === null ? null : new SqlLedger(ledger, (call) => this.#use((open) => call(open.ledger)));
  }

  get isOpen(): boolean {
    return this.#open !== null;
  }

  get roundTrips(): number {
    return this.#trips.count;
  }

  async open(now: number): Promise<void> {
    if (this.#open !== null) return;
    this.#openedAt = now;
    await this.#opening.run();
  }

  async close(): Promise<void> {
    await this.#opening.settled();
    const open = this.#open;
    this.#open = null;
    await open?.connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async putTasks(tasks: readonly contract.TaskPut[]): Promise<contract.TaskChange[]> {
    return this.#use((open) => open.tasks.put(tasks));
  }

  async getTasks(): Promise<TaskRecord[]> {
    return this.#use((open) => open.tasks.getAll());
  }

  async getTask(id: string): Promise<TaskRecord | null> {
    return this.#use((open) => open.tasks.get(id));
  }

  async removeTask(id: string): Promise<"removed" | "inUse" | "missing"> {
    return this.#use((open) => open.tasks.remove(id));
  }

  async pauseTask(request: contract.TaskPauseRequest): Promise<boolean> {
    return this.#use((open) => open.tasks.pause(request));
  }

  async getTaskPauses(): Promise<contract.TaskPause[]> {
    return this.#use((open) => open.tasks.getPauses());
  }

  async getBlackouts(): Promise<contract.BlackoutList> {
    return this.#use((open) => open.blackouts.list());
  }

  async addBlackout(addition: contract.BlackoutAddition): Promise<contract.BlackoutAdditionReport> {
    return this.#use((open) => open.blackouts.add(addition));
  }

  async removeBlackout(id: string): Promise<BlackoutRecord | null> {
    return this.#use((open) => open.blackouts.remove(id));
  }

  /** Checks by itself whether the schema is up to date, unlike the other methods. */
  async look(request: contract.LookRequest): Promise<contract.LookReport> {
    return this.#opened.commits.look(request);
  }

  commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
    return this.#use((open) =>
      open.labels.before(
        () => hasLabelled(request.additions),
        () =>
          open.logs.before(
            () => hasLogged(request.releases),
            () => open.commits.commit(request),
          ),
      ),
    );
  }

  async addSchedules(
    additions: readonly contract.ScheduleAddition[],
    note?: AuditRecord,
  ): Promise<contract.ScheduleAdditionReport> {
    return this.#use((open) => open.schedules.add(additions, note).finally(() => open.commits.schedulesChanged()));
  }

  async getSchedule(id: string): Promise<ScheduleRecord | null> {
    return this.#use((open) => open.schedules.get(id));
  }

  async getSchedules(filter: contract.ScheduleFilter): Promise<contract.RecordPage<ScheduleRecord>> {
    return this.#use((open) => open.schedules.getPage(filter));
  }

  async updateSchedules(
    updates: readonly contract.ScheduleUpdateRequest[],
    note?: AuditRecord,
  ): Promise<(ScheduleRecord | null)[]> {
    return this.#use((open) => open.schedules.update(updates, note).finally(() => open.commits.schedulesChanged()));
  }

  async removeSchedules(removals: readonly contract.ScheduleRemovalRequest[], note?: AuditRecord): Promise<boolean[]> {
    return this.#use((open) => open.schedules.remove(removals, note));
  }

  async commitSchedules(commit: contract.ScheduleCommit, note?: AuditRecord): Promise<contract.ScheduleCommitReport> {
    return this.#use((open) => open.schedules.commit(commit, note).finally(() => open.commits.schedulesChanged()));
  }

  /** Calls that come while an insert is in flight travel together in the next one. */
  addJobs(jobs: readonly NewJobRecord[]): Promise<contract.JobAddition[]> {
    return this.#use((open) => open.jobs.add(jobs));
  }

  async prepareAddition(job: NewJobRecord): Promise<SqlStatement[]> {
    return this.#use(async (open) => open.jobs.prepare(job));
  }

  async getJob(id: string): Promise<JobRecord | null> {
    return this.#use((open) => open.jobs.get(id));
  }

  async getJobs(filter: contract.JobFilter): Promise<contract.RecordPage<JobRecord>> {
    return this.#use((open) => open.jobs.getPage(filter));
  }

  async extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    return this.#use((open) =>
      open.logs.before(
        () => hasLogged(extension.jobs),
        () => open.leases.extend(extension),
      ),
    );
  }

  async getJobLogs(jobId: string, now: number): Promise<JobLogRecord[]> {
    return this.#use((open) => open.readLogs(jobId, now));
  }

  async giveUpLeases(surrender: contract.LeaseSurrender): Promise<contract.RecoveryReport> {
    return this.#use((open) => open.leases.giveUp(surrender));
  }

  async cancelJobs(ids: readonly string[], now: number): Promise<contract.CancelReport> {
    return this.#use((open) => open.jobs.cancel(ids, now));
  }

  async seeBackfill(request: contract.BackfillRequest): Promise<contract.BackfillState> {
    return this.#use((open) => open.backfills.see(request));
  }

  async commitBackfill(commit: contract.BackfillCommit): Promise<readonly JobRecord[] | null> {
    return this.#use((open) => open.backfills.commit(commit));
  }

  async cancelBackfill(id: string, now: number): Promise<boolean> {
    return this.#use((open) => open.backfills.cancel(id, now));
  }

  async getSchedulers(now: number): Promise<SchedulerRecord[]> {
    return this.#use((open) => open.leases.getSchedulers(now));
  }

  async saveJobStep(save: contract.JobStepSave): Promise<contract.JobStepReport> {
    return this.#use((open) => open.jobSteps.save(save));
  }

  async getJobSteps(jobId: string, now: number): Promise<JobStepRecord[]> {
    return this.#use((open) => open.jobSteps.get(jobId, now));
  }

  async prepareJobStep(save: contract.JobStepSave): Promise<SqlStatement[]> {
    return this.#use(async (open) => open.jobSteps.prepare(save));
  }

  async getJobResult(jobId: string, now: number): Promise<JobResultRecord | null> {
    return this.#use((open) => open.results.get(jobId, now));
  }

  async getResultsOfJobs(jobIds: readonly string[], now: number): Promise<contract.ResultsOfJobs> {
    return this.#use((open) => open.results.getOfJobs(jobIds, now));
  }

  async getUnknownJobIds(jobIds: readonly string[], now: number): Promise<string[]> {
    return this.#use((open) => open.jobs.getUnknown(jobIds, now));
  }

  async getJobResults(filter: contract.JobResultFilter, now: number): Promise<contract.RecordPage<JobResultRecord>> {
    return this.#use((open) => open.results.getPage(filter, now));
  }

  async getFailures(selection: contract.FailureSelection, now: number): Promise<contract.FailureList> {
    return this.#use((open) => open.results.getFailures(selection, now));
  }

  async restore(records: contract.RestoredRecords): Promise<void> {
    return this.#use((open) => open.results.restore(records));
  }

  async removeJobResults(selection: contract.ResultRemoval, limit: number): Promise<number> {
    return this.#use((open) => open.results.remove(selection, limit));
  }

  async cleanup(request: { readonly now: number; readonly limit: number }): Promise<contract.CleanupReport> {
    return this.#use(async ({ connection, cleanUp }) => {
      const report = cleanUp.report(await connection.write(() => cleanUp.statements(request)));
      await connection.emptyLog();
      return report;
    });
  }

  async getDataVersion(): Promise<number | null> {
    return this.#opened.connection.dataVersion();
  }

  async getCancelRequests(schedulerId: string): Promise<string[]> {
    return this.#use((open) => open.jobs.cancelRequests(schedulerId));
  }

  async inspect(now: number, options: contract.InspectionOptions = {}): Promise<contract.StoreInspection> {
    return this.#use(async (open) => {
      if (options.checksWrites === true) await open.connection.confirmWrites(...open.probe);
      const found = await open.inspect(now, options);
      const own = warningsOf(open.connection);
      return own.length === 0 ? found : { ...found, warnings: [...(found.warnings ?? []), ...own] };
    });
  }

  get #opened(): OpenStore {
    if (this.#open === null) throw notOpen();
    return this.#open;
  }

  /** Calls a function that needs the schema to be up to date. */
  #use<T>(call: (open: OpenStore) => Promise<T>): Promise<T> {
    const open = this.#open;
    if (open === null) return Promise.reject(notOpen());
    return open.schema.isUpToDate ? call(open) : open.schema.bringUpToDate().then(() => call(open));
  }

  /** Of openings that overlap, the first that succeeds counts. */
  async #openStore(): Promise<void> {
    const now = this.#openedAt;
    const {
      where = "the database",
      tablePrefix = "escapement_",
      timeoutMs = REMOTE_TIMEOUT_MS_DEFAULT,
      retry = {},
    } = this.#options;
    const facts = { where, random: systemRandom, timeoutMs, retry, trips: this.#trips };
    const connection = new Connection(this.#driver, facts);
    try {
      await connection.open();
      const sql = this.#dialect.forTables(tablePrefix);
      const { commits } = sql.names;
      const schema = sql.schema(connection, now);
      if (this.#isToReset) await this.#reset(schema);
      const statements = sql.makeStatements(this.ledger !== null);
      const flow: FlowState = { flow: "off", hasAccounts: true, isKnown: false };
      const labels = new LateTriggers(connection, sql.labelTriggers);
      const logs = new LateTriggers(connection, sql.logTriggers);
      const jobs = new SqlJobs(connection, statements, flow, labels);
      const cleanUp = new CleanUp(statements, this.ledger?.limits ?? null);
      this.#open ??= {
        connection,
        schema,
        tasks: new SqlTasks(connection, statements, flow),
        schedules: new SqlSchedules(connection, statements, labels),
        blackouts: new SqlBlackouts(connection, statements),
        jobs,
        backfills: new SqlBackfills(connection, statements, jobs),
        leases: new SqlLeases(connection, statements),
        commits: new SqlCommits(connection, schema, { statements, lookStatement: sql.lookStatement, flow, cleanUp }),
        jobSteps: new SqlJobSteps(connection, statements),
        results: new SqlResults(connection, statements),
        cleanUp,
        labels,
        logs,
        readLogs: (jobId, at) => readLogs(connection, statements, jobId, at),
        ledger: { connection, statements },
        zoneRules: new SqlZoneRules(connection, statements),
        probe: [`INSERT INTO ${commits} (id, at, answer) VALUES (?1, 0, ?2)`, `DELETE FROM ${commits} WHERE id = ?1`],
        inspect: (at, options) => inspect(connection, statements, at, options),
      };
    } catch (error) {
      // An opening that overlapped has succeeded, on the same driver.
      if (this.#open === null) await connection.close();
      throw error;
    }
  }

  /** Openings that overlap are not to empty what the first of them has filled. */
  async #reset(schema: Schema): Promise<void> {
    this.#isToReset = false;
    try {
      await schema.reset();
    } catch (error) {
      this.#isToReset = true;
      throw error;
    }
  }
}

function hasLogged(leases: readonly { readonly log?: JobLogRecord }[]): boolean {
  return leases.some(({ log }) => log !== undefined);
}

function warningsOf({ tooLongLog, unanswered }: Connection): contract.StoreWarning[] {
  const warnings: contract.StoreWarning[] = [];
  if (tooLongLog !== null) {
    const message =
      `the log of the database (its file -wal) has ${Math.round(tooLongLog / 1e6)} MB: it cannot be emptied while ` +
      "a connection reads an old state of the database; end what reads there";
    warnings.push({ code: "longLog", message });
  }
  if (unanswered > 0) {
    const message =
      `calls that were given up after the store's timeout still hold ${unanswered} of its client's places, until ` +
      "their connections end";
    warnings.push({ code: "unansweredCalls", message });
  }
  return warnings;
}

function notOpen(): StoreUnavailableError {
  return new StoreUnavailableError("the data store is not open: await open() first");
}
