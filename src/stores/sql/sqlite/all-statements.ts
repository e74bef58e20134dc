import type { Statements } from "../all-statements.ts";
import type { TableNames } from "../schema/tables.ts";
import { joined } from "../sql-and-json.ts";
import { admissionStatements } from "./flow-control/admission.ts";
import { taskStatements } from "./flow-control/tasks.ts";
import { changeStatements } from "./history/audit-of-changes.ts";
import { historyStatements } from "./history/history-writes.ts";
import { readStatements } from "./history/ledger-reads.ts";
import { overdueStatements } from "./history/overdue-occurrences.ts";
import { statsStatements } from "./history/stats.ts";
import { acquisitionStatements } from "./jobs/acquisition.ts";
import { backfillStatements } from "./jobs/backfills.ts";
import { dependencyStatements } from "./jobs/dependencies.ts";
import { additionStatements } from "./jobs/insertion-statements.ts";
import { jobStatements } from "./jobs/job-commands-and-lists.ts";
import { leaseStatements } from "./jobs/leases-and-heartbeats.ts";
import { logStatements } from "./jobs/logs-of-jobs.ts";
import { cancellationStatements, recoveryStatements } from "./jobs/recovery-and-cancellation.ts";
import { releaseStatements } from "./jobs/releases.ts";
import { resultStatements } from "./jobs/results.ts";
import { stepStatements } from "./jobs/steps-of-jobs.ts";
import { windowStatements } from "./jobs/throttle-and-debounce.ts";
import { inspectionStatements } from "./lists/inspection.ts";
import { blackoutStatements } from "./schedules/blackouts.ts";
import { planStatements } from "./schedules/plan-commits.ts";
import { scheduleStatements } from "./schedules/schedule-statements.ts";
import { zoneRulesStatements } from "./schedules/zone-rules.ts";

export function makeStatements(names: TableNames, keepsLedger = true): Statements {
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
