import type { AdmissionStatements } from "./flow-control/admission.ts";
import type { TaskStatements } from "./flow-control/tasks.ts";
import type { ChangeStatements } from "./history/audit-of-changes.ts";
import type { HistoryStatements, LedgerSwitch } from "./history/history-writes.ts";
import type { ReadStatements } from "./history/ledger-reads.ts";
import type { OverdueStatements } from "./history/overdue-occurrences.ts";
import type { StatsStatements } from "./history/stats.ts";
import type { AcquisitionStatements } from "./jobs/acquisition.ts";
import type { BackfillStatements } from "./jobs/backfills.ts";
import type { DependencyStatements } from "./jobs/dependencies.ts";
import type { AdditionStatements } from "./jobs/insertion-statements.ts";
import type { JobStatements } from "./jobs/job-commands-and-lists.ts";
import type { LeaseStatements } from "./jobs/leases-and-heartbeats.ts";
import type { LogStatements } from "./jobs/logs-of-jobs.ts";
import type { CancellationStatements, RecoveryStatements } from "./jobs/recovery-and-cancellation.ts";
import type { ReleaseStatements } from "./jobs/releases.ts";
import type { ResultStatements } from "./jobs/results.ts";
import type { StepStatements } from "./jobs/steps-of-jobs.ts";
import type { WindowStatements } from "./jobs/throttle-and-debounce.ts";
import type { InspectionStatements } from "./lists/inspection.ts";
import type { BlackoutStatements } from "./schedules/blackouts.ts";
import type { PlanStatements } from "./schedules/plan-commits.ts";
import type { ScheduleStatements } from "./schedules/schedule-statements.ts";
import type { ZoneRulesStatements } from "./schedules/zone-rules.ts";

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
