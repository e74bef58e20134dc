import { type AcquisitionStatements, acquisitionStatements } from "./acquisition-statements.ts";
import { type AdmissionStatements, admissionStatements } from "./admission-statements.ts";
import { type AlarmStatements, alarmStatements } from "./alarm-statements.ts";
import { type BookStatements, bookStatements } from "./book-statements.ts";
import { type CaptureStatements, captureStatements } from "./capture-statements.ts";
import { type ChainStatements, chainStatements } from "./chain-statements.ts";
import { type ChangeStatements, changeStatements } from "./change-statements.ts";
import { type InspectionStatements, inspectionStatements } from "./inspection.ts";
import { type JobStatements, jobStatements } from "./job-statements.ts";
import { joined } from "./lazily.ts";
import { type LifeStatements, lifeStatements } from "./life-statements.ts";
import { type PlanStatements, planStatements } from "./plan-statements.ts";
import { type RecoveryStatements, recoveryStatements } from "./recovery-statements.ts";
import { type ReleaseStatements, releaseStatements } from "./release-statements.ts";
import { type ResultStatements, resultStatements } from "./result-statements.ts";
import { type ScheduleStatements, scheduleStatements } from "./schedule-statements.ts";
import type { TableNames } from "./schema.ts";
import { type TaskStatements, taskStatements } from "./task-statements.ts";
import { type ZoneRulesStatements, zoneRulesStatements } from "./zone-rules-statements.ts";

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
    ReleaseStatements,
    RecoveryStatements,
    ScheduleStatements,
    PlanStatements,
    AcquisitionStatements,
    AdmissionStatements,
    CaptureStatements,
    ChainStatements,
    InspectionStatements,
    BookStatements,
    ChangeStatements,
    LifeStatements,
    ZoneRulesStatements,
    AlarmStatements {
  /** Whether the store keeps the ledger. If not, nothing of it is written. */
  readonly keepsLedger: boolean;
}

export function makeStatements(names: TableNames, keepsLedger = true): Statements {
  return joined<Statements>(
    { keepsLedger },
    taskStatements(names),
    resultStatements(names),
    jobStatements(names),
    releaseStatements(names),
    recoveryStatements(names),
    scheduleStatements(names),
    planStatements(names),
    acquisitionStatements(names),
    admissionStatements(names),
    captureStatements(names),
    chainStatements(names),
    inspectionStatements(names),
    bookStatements(names),
    changeStatements(names),
    lifeStatements(names),
    zoneRulesStatements(names),
    alarmStatements(names),
  );
}
