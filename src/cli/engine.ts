// What the commands need of the engine besides the doors of the package. It is built with the doors, so that there is
// one engine; the commands are built apart, and import nothing else of the sources but the core.

export { firstInstantOf } from "../cron/wall-clock.ts";
export { clockMarks } from "../crontab/clock-marks.ts";
export type { LintFinding, LintSeverity } from "../crontab/finding.ts";
export { lintExpression, lintSteps } from "../crontab/lint.ts";
export { type Crontab, type CrontabEntry, parseCrontab, slugOf } from "../crontab/parse-crontab.ts";
export { readExpression } from "../crontab/rule-of-entry.ts";
export { healedFireTime } from "../scheduler/firing/healed-fire-time.ts";
export { clockChanges } from "../triggers/clock-changes.ts";
export { isoIn } from "../triggers/words.ts";
