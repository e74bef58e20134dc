import type { JobRecord } from "../../../src/records/job.ts";
import { FireTimesThatRan } from "../../../src/scheduler/ledger/fire-times-that-ran.ts";
import type { BackfillCommit } from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { answering, type Mutant, patched, store } from "../mutant.ts";
import { BLACKOUT_MUTANTS } from "./blackout-mutants.ts";
import { CHANNEL } from "./notices.ts";
import { PAUSE_MUTANTS } from "./pause-mutants.ts";

/** A fault, and the first seed that finds it. */
export interface OperatorMutant {
  readonly mutant: Mutant;
  readonly caughtBy: number;
}

/** The faults of a list, with the seeds that find them, in the same order. */
function caught(mutants: readonly Mutant[], seeds: readonly number[]): OperatorMutant[] {
  return mutants.map((mutant, place) => ({ mutant, caughtBy: seeds[place] ?? 0 }));
}

/** Faults about notices. */
const NOTICES: readonly Mutant[] = [
  store(
    "tells of a change once more when a commit is repeated",
    answering(async (report, request, inner) => {
      if (!request.isRepetition) return report;
      const page = { taskId: CHANNEL, order: "newest", limit: 1, cursor: null } as const;
      const { items } = await inner.getJobs(page);
      await inner.addJobs(items.map((job) => ({ ...job, id: `${job.id} again` })));
      return report;
    }),
  ),
  store(
    "forgets the notices of jobs that it ends itself",
    answering(async (report, { now }, inner) => {
      const ended = new Set(report.ended.map(({ jobId }) => jobId));
      const { items } = await inner.getJobs({ taskId: CHANNEL, limit: 1000, cursor: null });
      const ofEnded = items.filter(({ metadata }) => ended.has(String(metadata.jobId)));
      await inner.cancelJobs(
        ofEnded.map(({ id }) => id),
        now,
      );
      return report;
    }),
  ),
];

/** A store that changes what comes to it of backfills. */
function backfilling(change: (commit: BackfillCommit, store: MemoryDataStore) => Promise<BackfillCommit>) {
  return class extends MemoryDataStore {
    override async commitBackfill(commit: BackfillCommit): Promise<readonly JobRecord[] | null> {
      return super.commitBackfill(await change(commit, this));
    }
  };
}

/** Faults of our own, each of which a promise about the operations has to find. */
export const OPERATOR_MUTANTS: readonly OperatorMutant[] = [
  ...caught(NOTICES, [18, 10]),
  ...caught(BLACKOUT_MUTANTS, [323, 4, 7, 21, 137, 520]),
  ...caught(PAUSE_MUTANTS, [0, 10, 0, 1, 49, 2, 15]),
  {
    mutant: store(
      "forgets how far a backfill has come",
      backfilling(async (commit) => {
        const { from, until } = commit.backfill;
        const position = commit.backfill.request.includes("oldest") ? from : until;
        return { ...commit, backfill: { ...commit.backfill, position, isDone: false } };
      }),
    ),
    caughtBy: 428,
  },
  {
    mutant: patched(
      "takes what ran for what did not",
      FireTimesThatRan.prototype,
      "among",
      () => async () => () => null,
    ),
    caughtBy: 0,
  },
];
