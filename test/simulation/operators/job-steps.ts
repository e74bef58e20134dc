import { NonRetryableError } from "../../../src/core/errors.ts";
import { RetryAfter } from "../../../src/core/retry-after.ts";
import type { Scheduler } from "../../../src/mod.ts";
import type { NewJobRecord } from "../../../src/records/job.ts";
import type { JobContext } from "../../../src/scheduler/scheduler-client.ts";
import type { StepContext } from "../../../src/scheduler/steps/step-types.ts";
import type {
  CommitReport,
  CommitRequest,
  JobAddition,
  JobStepReport,
  JobStepSave,
} from "../../../src/stores/data-store.ts";
import type { OperatedProcess, Operation, OperatorRun } from "./operators.ts";

const TASK = "steps";
const NAMES = ["a", "b", "c"];
const LOOPS = 3;

/** What is known of a job with steps. */
interface Known {
  /** The fence under which each step was told to have ended, and its value. */
  readonly ended: Map<string, { readonly fence: number; readonly value: unknown }>;
  /** By fence, the last cursor that a handler was told to be safe. */
  readonly told: Map<number, number>;
  wakeAt: number | null;
  /** The steps of schedulers by which it went back, fell asleep, and was put off. */
  readonly back: Set<string>;
  readonly asleep: Set<string>;
  readonly putOff: Set<string>;
  /** Whether a handler was told that the sleep is over. */
  hasSlept: boolean;
  /** The highest of its handlers. */
  fence: number;
  /** As its last release that counted says. */
  failedAttempts: number;
  /** Whether a handler gave it up, or an operator cancelled it. */
  mayFail: boolean;
  mayBeCancelled: boolean;
}

/**
 * Jobs with steps, a cursor, a sleep and a snooze, some of which fail, are cancelled, and are repeated. No step runs
 * again that ended under an earlier lease, or in the job that is repeated; a cursor never goes back; no write of a
 * scheduler counts whose lease another one has; and each sleep and snooze is slept once, until its end, and spends no
 * attempt.
 */
export function jobSteps(run: OperatorRun): Operation {
  const { random, history, clock, store, world } = run;
  const jobs = new Map<string, Known>();
  const known = (id: string): Known => {
    const found = jobs.get(id) ?? {
      ...{ ended: new Map(), told: new Map(), wakeAt: null, back: new Set(), asleep: new Set() },
      ...{ putOff: new Set(), hasSlept: false, fence: 0, failedAttempts: 0, mayFail: false, mayBeCancelled: false },
    };
    jobs.set(id, found);
    return found;
  };

  async function handle(context: JobContext, process: OperatedProcess): Promise<string> {
    const { step, fence, job, signal } = context;
    const facts = known(job.id);
    facts.fence = Math.max(facts.fence, fence);
    const violate = (what: string): void => history.violate(`${process.name}: job ${job.id} (fence ${fence}): ${what}`);
    const work = async (): Promise<void> => {
      const durationMs = random.pick([0, 0, 50, 800]);
      if (durationMs > 0) await process.clock.sleep(process.clock.now() + durationMs, signal);
      if (random.chance(0.1)) throw new Error("this time");
      if (!run.areFaultsOn || !random.chance(0.03)) return;
      facts.mayFail = true;
      throw new NonRetryableError("for good");
    };
    const once = async (name: string): Promise<unknown> => {
      const value = await step.run(name, async () => {
        const before = facts.ended.get(name);
        if (before !== undefined && before.fence < fence) violate(`step ${name} runs again`);
        await work();
        return `${name} under ${fence}`;
      });
      const before = facts.ended.get(name);
      if (before !== undefined && before.value !== value) violate(`${name} returned ${before.value}, then ${value}`);
      facts.ended.set(name, before ?? { fence, value });
      return value;
    };
    await Promise.all([once("a"), once("b")]);
    await step.run("loop", async ({ cursor = 0, save }: StepContext<number>) => {
      for (const [before, safe] of facts.told) {
        if (before < fence && cursor < safe) violate(`the cursor is ${cursor} after ${safe} was safe`);
      }
      for (let i = cursor; i < LOOPS; i++) {
        await work();
        const saved = save(i + 1).then(() => facts.told.set(fence, i + 1));
        if (random.chance(0.7)) await saved;
        else saved.catch(() => {});
      }
    });
    if (job.snoozes === 0) throw new RetryAfter({ milliseconds: 300 });
    await step.sleep("settle", { milliseconds: 1500 });
    if (facts.wakeAt === null || clock.now() < facts.wakeAt - 2 * world.skewMsMax) violate("it woke too early");
    facts.hasSlept = true;
    await once("c");
    return `done under ${fence}`;
  }

  function onSave({ jobId, fence, schedulerId, step }: JobStepSave, { isSaved }: JobStepReport): void {
    if (!isSaved) return;
    const facts = known(jobId);
    // The store answers with what it has at this moment, when the holder may have given the job back already.
    void store.getJob(jobId).then((job) => {
      if (job === null || (job.fence === fence && (job.acquiredBy === schedulerId || job.acquiredBy === null))) return;
      history.violate(`a write of ${schedulerId} under fence ${fence} counts, and ${job.fence} has ${jobId}`);
    });
    if (step.wakeAt !== null) facts.wakeAt = Math.max(facts.wakeAt ?? 0, step.wakeAt);
  }

  function onReleases({ releases, commitId, isRepetition }: CommitRequest, report: CommitReport): void {
    for (const [place, release] of releases.entries()) {
      if (release.kind !== "retry" || report.releases[place] !== "released" || !jobs.has(release.jobId)) continue;
      const { jobId, sleep, failedAttempts } = release;
      const facts = known(jobId);
      if (release.fence < facts.fence) {
        // A store may take a repeated release of a job that is gone for one that counted before (X8).
        if (!isRepetition) history.violate(`a release of ${jobId} under fence ${release.fence} counts, not the last`);
        continue;
      }
      if (facts.back.has(commitId)) continue;
      facts.back.add(commitId);
      const hasFailed = failedAttempts > facts.failedAttempts;
      facts.failedAttempts = failedAttempts;
      const nights = sleep?.step === "settle" ? facts.asleep : facts.putOff;
      if (sleep === undefined || (hasFailed && sleep.step === null)) continue;
      nights.add(commitId);
      if (hasFailed) history.violate(`job ${jobId} spent an attempt on a sleep`);
      // Whose clock is behind may find that a job wakes early that others woke.
      const isJustAwake = sleep.step !== null && Math.abs(clock.now() - (facts.wakeAt ?? 0)) <= world.skewMsMax;
      if (nights.size > 1 && !isJustAwake)
        history.violate(`job ${jobId} slept ${nights.size} times, in step ${sleep.step}`);
      if (sleep.step === null) continue;
      if (facts.hasSlept) history.violate(`job ${jobId} sleeps again`);
      history.count("sleeps of jobs");
    }
  }

  /** A job that repeats another one goes on where that one was. */
  function onAdditions(additions: readonly NewJobRecord[], answers: readonly JobAddition[]): void {
    for (const [place, { id, retryOf, copiesSteps }] of additions.entries()) {
      if (retryOf === undefined || answers[place]?.isNew !== true || jobs.has(id)) continue;
      known(id);
      if (copiesSteps !== true) continue;
      const { ended, told, wakeAt, hasSlept } = known(retryOf);
      const safe = new Map([[0, Math.max(0, ...told.values())]]);
      const copies = [...ended].map(([name, { value }]) => [name, { fence: 0, value }] as const);
      Object.assign(known(id), { ended: new Map(copies), told: safe, wakeAt, hasSlept });
      history.count("repeated jobs with steps");
    }
  }

  return {
    weight: 1,
    register: (process) => {
      const retry = { maxAttempts: 30, backoff: { initial: { milliseconds: 100 }, factor: 1 } };
      process.scheduler.task(TASK, { maxRunningJobs: null, maxRecoveries: 30, retry }, (_: unknown, context) =>
        handle(context, process),
      );
    },
    act: (process) => {
      const kind = random.weighted({ add: 3, cancel: 1, retry: 2, nothing: 6 });
      const add = async (scheduler: Scheduler) => void known((await scheduler.addJob(TASK)).id);
      if (kind === "add" || jobs.size === 0) void run.attempt(process, "addJob with steps", add);
      else if (kind === "cancel") {
        const [id, facts] = random.pick([...jobs]);
        facts.mayBeCancelled = true;
        void run.attempt(process, `cancelJob ${id}`, (scheduler) => scheduler.cancelJob(id));
      } else if (kind === "retry") {
        const failed = [...jobs].filter(([, { mayFail, mayBeCancelled }]) => mayFail || mayBeCancelled);
        const [id] = random.pick(failed) ?? [];
        const restart = random.chance(0.2);
        const retry = (scheduler: Scheduler) => scheduler.retryJob(id ?? "", { restart });
        if (id !== undefined) void run.attempt(process, `retryJob ${id}`, retry, ["conflictingId"]);
      }
    },
    onEffect: (method, args, answer) => {
      if (method === "saveJobStep") onSave(args[0] as JobStepSave, answer as JobStepReport);
      else if (method === "addJobs") onAdditions(args[0] as readonly NewJobRecord[], answer as readonly JobAddition[]);
      else if (method === "commit") {
        const [request, report] = [args[0] as CommitRequest, answer as CommitReport];
        onReleases(request, report);
        onAdditions(request.additions, report.additions);
      }
    },
    isAtRest: async () => {
      for (const id of jobs.keys()) if ((await store.getJob(id)) !== null) return false;
      return true;
    },
    checkAtRest: async () => {
      for (const [id, facts] of jobs) {
        const result = await store.getJobResult(id, clock.now());
        // It may have been added late, or need longer than all has to come to rest.
        if (result === null) continue;
        history.count("jobs with steps");
        const { ended, mayFail, mayBeCancelled } = facts;
        const mayEnd = ["success", ...(mayFail ? ["error"] : []), ...(mayBeCancelled ? ["cancelled"] : [])];
        if (!mayEnd.includes(result.outcome)) history.violate(`job ${id} with steps ended as ${result.outcome}`);
        const steps = await store.getJobSteps(id, clock.now());
        const left = steps.filter(({ endedAt }) => endedAt === null).map(({ name }) => name);
        if (result.outcome === "success" && (ended.size !== NAMES.length || left.length > 0))
          history.violate(`job ${id} ended after ${ended.size} steps, and left ${left}`);
        for (const [name, { value }] of ended) {
          const step = steps.find((one) => one.name === name);
          if (step?.value !== JSON.stringify(value))
            history.violate(`${name} of ${id} is ${step?.value}, not ${value}`);
        }
      }
    },
  };
}
