import type { Statements } from "../all-statements.ts";
import { joined } from "../sql-and-json.ts";
import { admissionStatements } from "./flow-control/admission.ts";
import { taskStatements } from "./flow-control/tasks.ts";
import { changeStatements } from "./history/audit-of-changes.ts";
import { historyStatements } from "./history/history-writes.ts";
import { readStatements } from "./history/ledger-reads.ts";
import { overdueStatements } from "./history/overdue-occurrences.ts";
import { statsStatements } from "./history/stats.ts";
import { acquisitionStatements } from "./jobs/acquisition.ts";
import { additionStatements, windowStatements } from "./jobs/additions.ts";
import { dependencyStatements } from "./jobs/dependencies.ts";
import { jobStatements } from "./jobs/job-lists.ts";
import { backfillStatements, leaseStatements, logStatements, stepStatements } from "./jobs/leases-and-heartbeats.ts";
import { cancellationStatements, recoveryStatements } from "./jobs/recovery-and-cancellation.ts";
import { releaseStatements } from "./jobs/releases.ts";
import { resultStatements } from "./jobs/results.ts";
import { inspectionStatements } from "./lists/inspection.ts";
import { blackoutStatements, zoneRulesStatements } from "./schedules/blackouts-and-zones.ts";
import { planStatements } from "./schedules/plan-commits.ts";
import { scheduleStatements } from "./schedules/schedule-statements.ts";
import type { PostgresNames } from "./schema/names.ts";

/** Every statement that the store sends once it is open, except looks. They have the names, the arguments and the
 *  columns of the statements on SQLite's SQL, so that the same code makes batches of them and reads their answers. */
export function makeStatements(names: PostgresNames, keepsLedger: boolean): Statements {
  return joined<Statements>(
    { keepsLedger },
    taskStatements(names),
    resultStatements(names),
    jobStatements(names),
    additionStatements(names),
    windowStatements(names),
    leaseStatements(names),
    releaseStatements(names),
    stepStatements(names),
    recoveryStatements(names),
    scheduleStatements(names),
    planStatements(names),
    acquisitionStatements(names),
    admissionStatements(names),
    backfillStatements(names),
    dependencyStatements(names),
    cancellationStatements(names),
    inspectionStatements(names),
    logStatements(names),
    historyStatements(names),
    readStatements(names),
    changeStatements(names),
    blackoutStatements(names),
    zoneRulesStatements(names),
    overdueStatements(names),
    statsStatements(names),
  );
}
