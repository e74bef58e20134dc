import type { LeaseExtension, LeaseExtensionReport, LeaseSurrender, RecoveryReport } from "../data-store.ts";
import { Batch, statement } from "./batch.ts";
import type { Connection } from "./connection.ts";
import type { SqlStatement } from "./driver.ts";
import { FAR_FUTURE_MS, RECOVERIES_PER_STEP_MAX } from "./limits.ts";
import { rowParameters } from "./parameters.ts";
import { recovery, recoveryReport } from "./recoveries.ts";
import type { Statements } from "./statements.ts";

/** The leases that a scheduler keeps or gives up, and its sign of life, in a `SqlDataStore`. */
export class SqliteLeases {
  readonly #connection: Connection;
  readonly #statements: Statements;

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async extend(extension: LeaseExtension): Promise<LeaseExtensionReport> {
    const { now, schedulerId, until, jobs, incarnation, settledStepId } = extension;
    const { extend, giveUpStrays } = this.#statements;
    const rows = jobs.map(({ jobId, fence }) => [jobId, fence]);
    const batch = new Batch();
    const extensions = batch.add(rowParameters(rows).map(({ text }) => statement(extend, text, schedulerId, until)));
    batch.add([statement(giveUpStrays, JSON.stringify(rows), schedulerId, now, incarnation, settledStepId)]);
    batch.add(this.#signOfLife(extension));
    const results = await this.#connection.write(() => batch.statements);
    const answer = extensions.of(results).flat();
    const extended = new Map(answer.map((row) => [String(row.id), Number(row.cancel_requested) === 1]));
    const ids = jobs.map(({ jobId }) => jobId);
    return {
      lost: ids.filter((id) => !extended.has(id)),
      cancelRequested: ids.filter((id) => extended.get(id) === true),
    };
  }

  /** In as many writes as it takes, so that no write and no answer becomes too large. */
  async giveUp(surrender: LeaseSurrender): Promise<RecoveryReport> {
    const reports: RecoveryReport[] = [];
    for (;;) {
      const report = await this.#giveUpSome(surrender);
      reports.push(report);
      if (report.recovered.length + report.ended.length < RECOVERIES_PER_STEP_MAX) break;
    }
    return {
      recovered: reports.flatMap(({ recovered }) => recovered),
      ended: reports.flatMap(({ ended }) => ended),
    };
  }

  async #giveUpSome(surrender: LeaseSurrender): Promise<RecoveryReport> {
    const { now, schedulerId } = surrender;
    const batch = new Batch();
    const recovered = batch.add(
      recovery(this.#statements, {
        now,
        endedBy: FAR_FUTURE_MS,
        holder: schedulerId,
        putBackBy: null,
        spares: surrender.incarnation,
        limit: RECOVERIES_PER_STEP_MAX,
      }),
    );
    batch.add([statement(this.#statements.giveUpSchedules, schedulerId), ...this.#signOfLife(surrender)]);
    return recoveryReport(recovered.of(await this.#connection.write(() => batch.statements)), now);
  }

  #signOfLife({ schedulerId, incarnation, aliveUntil }: LeaseSurrender): SqlStatement[] {
    return aliveUntil === null ? [] : [statement(this.#statements.keepAlive, schedulerId, incarnation, aliveUntil)];
  }
}
