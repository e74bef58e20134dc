import type { BackfillRecord } from "../../../src/records/backfill.ts";
import type { BackfillOptions } from "../../../src/scheduler/options/options.ts";
import type { BackfillCommit, CommitReport } from "../../../src/stores/data-store.ts";
import type { OperatedProcess, Operation, OperatorRun } from "./operators.ts";

/** How far back the ranges of backfills begin, and how far from the present they end, in milliseconds. */
const RANGE_MS = { from: 20_000, until: 2000 };

/** No clock is further from the true one. */
const SKEW_MS_MAX = 900;

/** What a backfill answered. */
interface Answer {
  readonly count: number;
  readonly backfillId: string | null;
}

/**
 * Operators backfill ranges that overlap, once more, from several processes, and cancel what they have begun. No
 * backfill has a fire time twice; without `includeRan`, no fire time has a second job that begins; and a backfill that
 * was answered has all of its jobs.
 */
export function backfills(run: OperatorRun): Operation {
  const { random, history } = run;
  /** Calls that were made, to be made once more. */
  const calls: { readonly scheduleId: string; readonly options: BackfillOptions }[] = [];
  const answers: Answer[] = [];
  const known = new Map<string, BackfillRecord>();
  const cancelled = new Set<string>();
  /** Jobs that each backfill added, by fire time. */
  const added = new Map<string, Map<number, string>>();
  /** The jobs of each fire time whose handlers were called, and where. */
  const begun = new Map<string, Map<string, OperatedProcess>>();
  /** Fire times that somebody wanted to run once more. */
  const wantedAgain = new Set<string>();
  let removedAt = Number.NEGATIVE_INFINITY;

  const onCommit = ({ backfill, jobs }: BackfillCommit, answer: unknown): void => {
    if (answer === null) return;
    const { id } = backfill;
    if (cancelled.has(id)) history.violate(`backfill ${id} goes on after it was cancelled`);
    const own = added.get(id) ?? new Map<number, string>();
    added.set(id, own);
    for (const job of jobs) {
      if (job.fireTime === null) continue;
      const name = `${job.scheduleId} at ${job.fireTime}`;
      if (own.has(job.fireTime)) history.violate(`backfill ${id} has ${name} twice`);
      own.set(job.fireTime, job.id);
      if (backfill.request.includes('"includeRan":true')) wantedAgain.add(name);
      history.count("backfilled");
    }
    if (own.size !== backfill.count) history.violate(`backfill ${id} counts ${backfill.count} of ${own.size} jobs`);
    known.set(id, backfill);
  };

  /** By the ledger, a job that gave way to a newer one between two attempts did not run. */
  const onPlans = ({ plans }: CommitReport): void => {
    for (const { jobId } of plans.flatMap(({ overlap }) => overlap?.replaced ?? [])) {
      for (const ids of begun.values()) ids.delete(jobId);
    }
  };

  const call = (process: OperatedProcess, scheduleId: string, options: BackfillOptions): void => {
    void run
      .attempt(
        process,
        `backfill ${scheduleId} ${JSON.stringify(options)}`,
        (scheduler) => scheduler.backfill(scheduleId, options),
        // The schedule may be paused, or the store may not know of its past.
        ["options"],
      )
      .then((answer) => {
        if (answer !== null && options.dryRun !== true) answers.push(answer);
      });
  };

  const begin = (process: OperatedProcess): void => {
    const scheduleId = random.pick(run.scheduleIds);
    const now = run.clock.now();
    const from = now - random.int(1, RANGE_MS.from);
    const until = Math.max(from + 1, Math.min(now, now - random.int(-500, RANGE_MS.until)));
    const options: BackfillOptions = {
      from: new Date(from),
      until: new Date(until),
      order: random.pick(["oldest", "newest"] as const),
      ...(random.chance(0.2) ? { pace: { milliseconds: 400 } } : {}),
      ...(random.chance(0.2) ? { limit: random.int(1, 3) } : {}),
      ...(random.chance(0.2) ? { includeRan: true } : {}),
      ...(random.chance(0.6) ? { includeUnrecorded: true } : {}),
      ...(random.chance(0.1) ? { dryRun: true } : {}),
    };
    calls.push({ scheduleId, options });
    call(process, scheduleId, options);
    // By another program at once.
    if (random.chance(0.3)) call(random.pick(run.processes), scheduleId, options);
  };

  const again = (process: OperatedProcess): void => {
    const { scheduleId, options } = random.pick(calls.slice(-3));
    call(process, scheduleId, options);
  };

  const cancel = (process: OperatedProcess): void => {
    const underWay = [...known.values()].filter(({ isDone }) => !isDone);
    const { id } = random.pick(underWay.length > 0 ? underWay : [...known.values()]);
    void run.attempt(process, `cancelJobs ${id}`, (scheduler) => scheduler.cancelJobs({ backfillId: id }));
  };

  return {
    weight: 3,
    act: (process) => {
      const kind = random.pick(["begin", "begin", "again", "again", "cancel"] as const);
      if (kind === "again" && calls.length > 0) again(process);
      else if (kind === "cancel" && known.size > 0) cancel(process);
      else begin(process);
    },
    onEffect: (method, args, answer) => {
      if (method === "commitBackfill") onCommit(args[0] as BackfillCommit, answer);
      if (method === "commit") onPlans(answer as CommitReport);
      // One that is added under the id of a removed one may fire anew, from the beginning of its rule on.
      if (method === "removeSchedules") removedAt = run.clock.now() + 2 * SKEW_MS_MAX;
      if (method === "cancelBackfill" && answer === true) cancelled.add(args[0] as string);
    },
    onHandler: ({ job }, process) => {
      if (job.fireTime === null || job.retryOf !== null) return;
      if (job.fireTime.epochMilliseconds <= removedAt) return;
      const name = `${job.scheduleId} at ${job.fireTime.epochMilliseconds}`;
      const places = (begun.get(name) ?? new Map<string, OperatedProcess>()).set(job.id, process);
      begun.set(name, places);
      // What began in a process that died may be lost before anybody knows that it began.
      const ids = [...places].filter(([, place]) => !place.isCrashed).map(([id]) => id);
      if (ids.length > 1 && !wantedAgain.has(name)) history.violate(`${name} runs twice, as ${ids.join(" and ")}`);
      if (job.missedCount !== 0 && job.backfillId !== null) history.violate(`job ${job.id} stands for others`);
    },
    checkAtRest: async () => {
      for (const { count, backfillId } of answers) {
        if (backfillId === null || cancelled.has(backfillId)) continue;
        const backfill = known.get(backfillId);
        if (backfill?.isDone !== true || backfill.count !== count) {
          history.violate(`backfill ${backfillId} answered ${count}, and is ${JSON.stringify(backfill)}`);
        }
      }
    },
  };
}
