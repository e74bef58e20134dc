import type { LookReport, LookRequest, StepReport, StepRequest } from "../../data-store.ts";
import type { Connection } from "../driver/connection.ts";
import type { Row } from "../driver/driver.ts";
import { type Awareness, type FlowControl, isLess } from "../flow/awareness.ts";
import { AlarmTurns } from "../ledger/overdue.ts";
import { ACQUIRED_BYTES_MAX, CHAINED_STEPS_MAX } from "../limits.ts";
import { jsonArray, numberOrNull } from "../rows.ts";
import type { SchemaCheck } from "../schema/migrations.ts";
import type { TableNames } from "../schema/schema.ts";
import type { Statements } from "../statements.ts";
import type { CleanUp } from "./clean-up.ts";
import { comparableTasks, hasSettledLinks, Looks, openAlarms } from "./looks.ts";
import { StepBatch, type StepContext } from "./step-batch.ts";

interface StepParts {
  readonly statements: Statements;
  readonly names: TableNames;
  readonly awareness: Awareness;
  readonly cleanUp: CleanUp;
}

/** The looks and steps of schedulers in a `SqlDataStore`: one read, and one write. */
export class SqliteSteps {
  readonly #connection: Connection;
  readonly #schema: SchemaCheck;
  readonly #context: Omit<StepContext, "boundsBytes">;
  readonly #awareness: Awareness;
  /** Whether the last step leased jobs of many bytes. Steps of a local database pay for a bound only then. */
  #isHeavy = false;
  /** In how many more steps jobs that end may have children. A step that does not expect children takes a second write
   *  for them, and one that does has a few more statements. */
  #chainedSteps = 0;
  readonly #alarmTurns = new AlarmTurns();

  constructor(connection: Connection, schema: SchemaCheck, { statements, names, awareness, cleanUp }: StepParts) {
    this.#connection = connection;
    this.#schema = schema;
    this.#awareness = awareness;
    this.#context = {
      statements,
      looks: new Looks(names, statements.keepsLedger),
      cleanUp,
      isLocal: connection.isLocal,
    };
  }

  /** A schedule was changed. */
  schedulesChanged(): void {
    this.#context.looks.changed();
  }

  async look(request: LookRequest): Promise<LookReport> {
    const { looks } = this.#context;
    // Nothing is known before the first look. It heeds everything, because a second one would cost a request more.
    const flow = this.#awareness.isTold ? this.#awareness.flow : "all";
    const [tasks, others] = comparableTasks(request.tasks ?? []);
    const expiredForMs = request.asksForExpired === true ? (request.expiredForMs ?? 0) : null;
    const { zoneRules } = request;
    const shown = { expiredForMs, zoneRules, flow, ...(request.tasks === null ? {} : { tasks }) };
    const statement = looks.statement(request, shown);
    try {
      const rows = statement === null ? [] : await this.#schema.readFresh(statement);
      if (this.#needsMore(rows, flow)) return this.look(request);
      const stale = jsonArray<string>(rows, "stale_task_ids");
      const staleTaskIds = [...stale, ...others.map(({ id }) => id)];
      if (hasSettledLinks(rows)) this.#chainedSteps = CHAINED_STEPS_MAX;
      const hasExpired = numberOrNull(rows, "has_expired") === 1;
      const texts = zoneRules === undefined ? {} : { zoneRules: jsonArray<string>(rows, "zone_rules") };
      return { ...looks.seen(request, rows), staleTaskIds, hasExpired, ...texts };
    } catch (error) {
      if (this.#connection.failureKind(error) === "tooLarge" && looks.shrink(request)) return this.look(request);
      throw error;
    }
  }

  async step(request: StepRequest): Promise<StepReport> {
    try {
      return await this.#step(request);
    } catch (error) {
      const kind = this.#connection.failureKind(error);
      const { jobs } = request;
      // The answer would have been larger than the server sends, so nothing was written. Ask for less.
      const hasFewerSchedules = kind === "tooLarge" && this.#context.looks.shrink(request);
      if (kind === "tooLarge" && jobs !== null && jobs.limit > 1) {
        return this.step({ ...request, jobs: { ...jobs, limit: Math.ceil(jobs.limit / 4) } });
      }
      if (hasFewerSchedules) return this.step(request);
      throw error;
    }
  }

  /** Nearly always all releases count. The first batch assumes so, with guards that undo the batch if a release does
   *  not count. Then a second batch looks at each release. This halves the statements of the usual step. */
  async #step(request: StepRequest): Promise<StepReport> {
    if (request.inOneTrip === true) return this.#write(request, true);
    try {
      return await this.#write(request, request.isRepetition);
    } catch (error) {
      if (this.#connection.failureKind(error) !== "guard") throw error;
    }
    const report = await this.#write(request, true);
    // If all releases count, then what undid the first batch was a job with children.
    if (report.releases.every((status) => status === "released")) this.#chainedSteps = CHAINED_STEPS_MAX;
    return report;
  }

  async #write(request: StepRequest, isExact: boolean): Promise<StepReport> {
    const context = { ...this.#context, boundsBytes: this.#isHeavy || !this.#context.isLocal };
    const { flow } = this.#awareness;
    const alarmsLeftOut = request.alarms === true ? this.#alarmTurns.next() : 0;
    const make = (isRepetition: boolean): StepBatch => {
      const exactly = isExact || isRepetition;
      return new StepBatch(context, request, {
        isExact: exactly,
        isRepetition,
        flow,
        settles: exactly || this.#chainedSteps > 0,
        alarmsLeftOut,
      });
    };
    let batch = make(request.isRepetition);
    const write = this.#connection.write((isRepetition) => {
      if (isRepetition) batch = make(true);
      return batch.statements;
    });
    const results = await write.catch(async (error: unknown) => {
      throw await batch.refusal(this.#connection, error);
    });
    if (this.#chainedSteps > 0) this.#chainedSteps--;
    if (batch.leavesLinks(results)) this.#chainedSteps = CHAINED_STEPS_MAX;
    this.#isHeavy = batch.acquiredLength(results) > ACQUIRED_BYTES_MAX / 2;
    const report = batch.report(results);
    if (!this.#needsMore(batch.look(results), batch.flow)) return report;
    // The step left out the jobs that need flow control. A repetition does what is left of a step.
    const { cleanup: _cleanup, ...again } = request;
    const rest = { ...again, releases: [], additions: [], plans: [], isRepetition: true };
    const { releases: _, additions: __, plans: ___, ...seen } = await this.#write(rest, true);
    const promoted = [...(report.promoted ?? []), ...(seen.promoted ?? [])];
    return {
      ...report,
      ...seen,
      ...(promoted.length === 0 ? {} : { promoted }),
      recovered: [...report.recovered, ...seen.recovered],
      ended: [...report.ended, ...seen.ended],
    };
  }

  /** Keeps in mind what the answer of a look tells about flow control. Whether the look should have heeded more. */
  #needsMore(rows: readonly Row[], heeded: FlowControl): boolean {
    this.#alarmTurns.heed(openAlarms(rows));
    const flow = this.#context.looks.flow(rows);
    if (flow === null) return false;
    this.#awareness.flow = flow;
    this.#awareness.isTold = true;
    return isLess(heeded, flow);
  }
}
