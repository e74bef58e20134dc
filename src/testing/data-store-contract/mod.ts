import { acquisitionCases } from "./acquisition-cases.ts";
import { backfillCases } from "./backfill-cases.ts";
import { blackoutCases } from "./blackout-cases.ts";
import { cancellationCases } from "./cancellation-cases.ts";
import { chainAdditionCases } from "./chain-addition-cases.ts";
import { chainCases } from "./chain-cases.ts";
import { chainEndCases } from "./chain-end-cases.ts";
import { changeCases } from "./change-cases.ts";
import { changeSkipCases } from "./change-skip-cases.ts";
import { commitCases } from "./commit-cases.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { debounceBlockedCases } from "./debounce-blocked-cases.ts";
import { debounceCases } from "./debounce-cases.ts";
import { debounceRepetitionCases } from "./debounce-repetition-cases.ts";
import { declarationCases } from "./declaration-cases.ts";
import { dueCases } from "./due-cases.ts";
import { failureCases } from "./failure-cases.ts";
import { flowFairCases } from "./flow-fair-cases.ts";
import { flowKeyCases } from "./flow-key-cases.ts";
import { flowLimitCases } from "./flow-limit-cases.ts";
import { flowModelCases } from "./flow-model-cases.ts";
import { flowPauseCases } from "./flow-pause-cases.ts";
import { flowPriorityCases } from "./flow-priority-cases.ts";
import { flowRateCases } from "./flow-rate-cases.ts";
import { historyCases } from "./history-cases.ts";
import { inspectionCases } from "./inspection-cases.ts";
import { jobCases } from "./job-cases.ts";
import { jobListCases } from "./job-list-cases.ts";
import { jobLogCases } from "./job-log-cases.ts";
import { jobStepCases } from "./job-step-cases.ts";
import { labelCases } from "./label-cases.ts";
import { leaseCases } from "./lease-cases.ts";
import { ledgerAgainCases } from "./ledger-again-cases.ts";
import { ledgerCases } from "./ledger-cases.ts";
import { ledgerPageCases } from "./ledger-page-cases.ts";
import { ledgerRetentionCases } from "./ledger-retention-cases.ts";
import { ledgerSkipCases } from "./ledger-skip-cases.ts";
import { listCases } from "./list-cases.ts";
import { lookCases } from "./look-cases.ts";
import { missedStartCases } from "./missed-start-cases.ts";
import { missedTurnCases } from "./missed-turn-cases.ts";
import { noticeCases } from "./notice-cases.ts";
import { onceCases } from "./once-cases.ts";
import { orphanCases } from "./orphan-cases.ts";
import { overdueCases } from "./overdue-cases.ts";
import { overlapCases } from "./overlap-cases.ts";
import { paceCases } from "./pace-cases.ts";
import { pauseEndCases } from "./pause-end-cases.ts";
import { pauseFailureCases } from "./pause-failure-cases.ts";
import { planCases } from "./plan-cases.ts";
import { planRaceCases } from "./plan-race-cases.ts";
import { planRepetitionCases } from "./plan-repetition-cases.ts";
import { preferredSchedulerCases } from "./preferred-scheduler-cases.ts";
import { recordCases } from "./record-cases.ts";
import { recoveryCases } from "./recovery-cases.ts";
import { releaseCases } from "./release-cases.ts";
import { releaseRepetitionCases } from "./release-repetition-cases.ts";
import { repeatedJobCases } from "./repeated-job-cases.ts";
import { repetitionCases } from "./repetition-cases.ts";
import { restoreCases } from "./restore-cases.ts";
import { resultCases } from "./result-cases.ts";
import { scheduleCases } from "./schedule-cases.ts";
import { scheduleCommitCases } from "./schedule-commit-cases.ts";
import { scheduleListCases } from "./schedule-list-cases.ts";
import { statsCases } from "./stats-cases.ts";
import { taskCases } from "./task-cases.ts";
import { uptimeCases } from "./uptime-cases.ts";
import { versionCases } from "./version-cases.ts";
import { wrongClockCases } from "./wrong-clock-cases.ts";
import { zoneCases } from "./zone-cases.ts";

export { ContractViolation } from "./assert.ts";
export type { DataStoreCase, DataStoreContext } from "./contract-case.ts";

/**
 * The contract that every `DataStore` keeps, as named cases for any test runner. No case waits or needs a clock. Each
 * case names the rules of docs/store-contract.md that it tests.
 *
 * ```ts
 * for (const { name, rules, run } of dataStoreContract) {
 *   test(`[${rules.join(" ")}] ${name}`, () => run({ open: async () => openedStore() }));
 * }
 * ```
 */
export const dataStoreContract: readonly DataStoreCase[] = Object.freeze([
  ...taskCases,
  ...scheduleCases,
  ...scheduleCommitCases,
  ...declarationCases,
  ...dueCases,
  ...preferredSchedulerCases,
  ...lookCases,
  ...planCases,
  ...planRaceCases,
  ...paceCases,
  ...overlapCases,
  ...missedTurnCases,
  ...commitCases,
  ...repetitionCases,
  ...releaseRepetitionCases,
  ...planRepetitionCases,
  ...jobCases,
  ...acquisitionCases,
  ...releaseCases,
  ...leaseCases,
  ...orphanCases,
  ...recoveryCases,
  ...backfillCases,
  ...failureCases,
  ...cancellationCases,
  ...jobStepCases,
  ...jobLogCases,
  ...resultCases,
  ...scheduleListCases,
  ...jobListCases,
  ...listCases,
  ...labelCases,
  ...recordCases,
  ...inspectionCases,
  ...overdueCases,
  ...historyCases,
  ...repeatedJobCases,
  ...chainCases,
  ...chainEndCases,
  ...chainAdditionCases,
  ...debounceCases,
  ...debounceRepetitionCases,
  ...debounceBlockedCases,
  ...onceCases,
  ...flowKeyCases,
  ...flowLimitCases,
  ...flowPriorityCases,
  ...flowRateCases,
  ...flowFairCases,
  ...flowPauseCases,
  ...pauseEndCases,
  ...pauseFailureCases,
  ...blackoutCases,
  ...flowModelCases,
  ...missedStartCases,
  ...wrongClockCases,
  ...versionCases,
  ...ledgerCases,
  ...ledgerSkipCases,
  ...ledgerAgainCases,
  ...ledgerPageCases,
  ...ledgerRetentionCases,
  ...statsCases,
  ...changeCases,
  ...changeSkipCases,
  ...uptimeCases,
  ...noticeCases,
  ...restoreCases,
  ...zoneCases,
]);
