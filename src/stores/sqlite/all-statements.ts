import { type AdmissionStatements, admissionStatements } from "./flow-control/admission.ts";
import { type TaskStatements, taskStatements } from "./flow-control/tasks.ts";
import { type InspectionStatements, inspectionStatements } from "./inspection.ts";
import { type AcquisitionStatements, acquisitionStatements } from "./jobs/acquisition.ts";
import { type BackfillStatements, backfillStatements } from "./jobs/backfills.ts";
import { type DependencyStatements, dependencyStatements } from "./jobs/dependencies.ts";
import { type AdditionStatements, additionStatements } from "./jobs/insertion-statements.ts";
import { type JobStatements, jobStatements } from "./jobs/job-commands-and-lists.ts";
import { type LeaseStatements, leaseStatements } from "./jobs/leases-and-heartbeats.ts";
import { type LogStatements, logStatements } from "./jobs/logs-of-jobs.ts";
import {
  type CancellationStatements,
  cancellationStatements,
  type RecoveryStatements,
  recoveryStatements,
} from "./jobs/recovery-and-cancellation.ts";
import { type ReleaseStatements, releaseStatements } from "./jobs/releases.ts";
import { type ResultStatements, resultStatements } from "./jobs/results.ts";
import { type StepStatements, stepStatements } from "./jobs/steps-of-jobs.ts";
import { type WindowStatements, windowStatements } from "./jobs/throttle-and-debounce.ts";
import { type ChangeStatements, changeStatements } from "./ledger/audit-of-changes.ts";
import { type HistoryStatements, historyStatements, type LedgerSwitch } from "./ledger/history-writes.ts";
import { type ReadStatements, readStatements } from "./ledger/ledger-reads.ts";
import { type OverdueStatements, overdueStatements } from "./ledger/overdue-occurrences.ts";
import { type StatsStatements, statsStatements } from "./ledger/stats.ts";
import { type PlanStatements, planStatements } from "./schedules/plan-commits.ts";
import { type ScheduleStatements, scheduleStatements } from "./schedules/schedule-statements.ts";
import { type BlackoutStatements, blackoutStatements } from "./schedules/sqlite-blackouts.ts";
import { type ZoneRulesStatements, zoneRulesStatements } from "./schedules/sqlite-zone-rules.ts";
import type { TableNames } from "./schema/tables.ts";
import { joined } from "./sql-and-json.ts";

/**
 * Every statement that the store sends once it is open, except looks (see `lookStatement`). A test reads the query plan
 * of each statement.
 *
 * A parameter after LIMIT has a sign (`LIMIT +?2`). Without the sign, SQLite 3.53 prepares the statement anew for each
 * value that is bound, which costs ten times as much as a look, because it plans for that value.
 */
export interface Statements
  extends TaskStatements,
    ResultStatements,
    JobStatements,
    AdditionStatements,
    WindowStatements,
    LeaseStatements,
    ReleaseStatements,
    StepStatements,
    LogStatements,
    RecoveryStatements,
    ScheduleStatements,
    PlanStatements,
    AcquisitionStatements,
    AdmissionStatements,
    BackfillStatements,
    DependencyStatements,
    CancellationStatements,
    InspectionStatements,
    HistoryStatements,
    ReadStatements,
    ChangeStatements,
    BlackoutStatements,
    ZoneRulesStatements,
    OverdueStatements,
    StatsStatements,
    LedgerSwitch {}

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
