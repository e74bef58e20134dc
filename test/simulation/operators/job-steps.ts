import { RetryAfter } from "../../../src/core/retry-after.ts";
import type { JobContext } from "../../../src/scheduler/scheduler-client.ts";
import type { StepContext } from "../../../src/scheduler/steps/step-types.ts";
import type { JobStepReport, JobStepSave, StepReport, StepRequest } from "../../../src/stores/data-store.ts";
import type { OperatedProcess, Operation, OperatorRun } from "./operators.ts";

const TASK = "steps";
const LOOPS = 3;
/** No clock is further from the true one. */
const SKEW_MS_MAX = 1000;

/** What is known of a job with steps. */
interface Known {
  /** The fence under which each step was told to have ended, and its value. */
  readonly ended: Map<string, { readonly fence: number; readonly value: unknown }>;
  /** The last cursor that took effect, and the last that a handler was told to be safe. */
  saved: number;
  told: number;
  wakeAt: number | null;
  /** The steps of schedulers by which it fell asleep. */
  readonly asleep: Set<string>;
}

/**
 * Jobs with steps, a cursor, a sleep and a snooze. No step runs again that ended under an earlier lease, a cursor never
 * goes back, no write of a scheduler counts whose lease another one has, and each sleep is slept once, until its end.
 */
export function jobSteps(run: OperatorRun): Operation {
  const { random, history, clock, store } = run;
  const jobs = new Map<string, Known>();
  const known = (id: string): Known => {
    const found = jobs.get(id) ?? { ended: new Map(), saved: 0, told: 0, wakeAt: null, asleep: new Set<string>() };
    jobs.set(id, found);
    return found;
  };

  async function handle(context: JobContext, process: OperatedProcess): Promise<string> {
    const { step, fence, job, signal } = context;
    const facts = known(job.id);
    const violate = (what: string): void => history.violate(`${process.name}: job ${job.id} (fence ${fence}): ${what}`);
    const work = async (): Promise<void> => {
      const untilMs = process.clock.now() + random.int(0, 800);
      await process.clock.sleep(untilMs, signal);
      if (random.chance(0.15)) throw new Error("this time");
    };
    const once = async (name: string): Promise<unknown> => {
      const value = await step.run(name, async () => {
        const before = facts.ended.get(name);
        if (before !== undefined && before.fence < fence) violate(`step ${name} runs again`);
        await work();
        return `${name} under ${fence}`;
      });
      const before = facts.ended.get(name);
      if (before !== undefined && before.value !== value)
        violate(`step ${name} returned ${before.value}, then ${value}`);
      facts.ended.set(name, before ?? { fence, value });
      return value;
    };
    await Promise.all([once("a"), once("b")]);
    await step.run("loop", async ({ cursor = 0, save }: StepContext<number>) => {
      if (cursor < facts.told) violate(`the cursor is ${cursor} after ${facts.told} was safe`);
      for (let i = cursor; i < LOOPS; i++) {
        await work();
        await save(i + 1);
        facts.told = Math.max(facts.told, i + 1);
      }
    });
    if (job.snoozes === 0) throw new RetryAfter({ milliseconds: 300 });
    await step.sleep("settle", { milliseconds: 1500 });
    if (facts.wakeAt === null || clock.now() < facts.wakeAt - 2 * SKEW_MS_MAX) violate("it woke too early");
    await once("c");
    return `done under ${fence}`;
  }

  function onSave({ jobId, fence, now, schedulerId, step }: JobStepSave, { isSaved }: JobStepReport): void {
    if (!isSaved) return;
    const facts = known(jobId);
    // The store answers with what it has at this moment.
    void store.getJob(jobId).then((job) => {
      if (job === null) return;
      const isHolder = job.fence === fence && job.acquiredBy === schedulerId && (job.acquiredUntil ?? 0) > now;
      if (!isHolder)
        history.violate(`a write of ${schedulerId} under fence ${fence} counts, and ${job.fence} has ${jobId}`);
    });
    if (step.wakeAt !== null) facts.wakeAt = Math.max(facts.wakeAt ?? 0, step.wakeAt);
    if (step.name !== "loop" || step.cursor === null) return;
    const cursor = Number(step.cursor);
    // One that arrives late counts, and changes nothing.
    if (cursor > facts.saved) facts.saved = cursor;
  }

  function onStep({ releases, stepId }: StepRequest, report: StepReport): void {
    for (const [place, release] of releases.entries()) {
      if (release.kind !== "retry" || report.releases[place] !== "released" || !jobs.has(release.jobId)) continue;
      if (release.sleep?.step !== "settle") continue;
      const { asleep } = known(release.jobId);
      asleep.add(stepId);
      if (asleep.size > 1) history.violate(`job ${release.jobId} slept ${asleep.size} times in one step`);
      history.count("sleeps of jobs");
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
      void run.attempt(
        process,
        "addJob with steps",
        async (scheduler) => void known((await scheduler.addJob(TASK)).id),
      );
    },
    onEffect: (method, args, answer) => {
      if (method === "saveJobStep") onSave(args[0] as JobStepSave, answer as JobStepReport);
      else if (method === "step") onStep(args[0] as StepRequest, answer as StepReport);
    },
    checkAtRest: async () => {
      for (const [id, { ended, saved }] of jobs) {
        const result = await store.getJobResult(id, clock.now());
        // It may have been added late, or need longer than all has to come to rest.
        if (result === null) continue;
        history.count("jobs with steps");
        if (result.outcome !== "success") history.violate(`job ${id} with steps ended as ${result.outcome}`);
        if (ended.size !== 3 || saved !== LOOPS)
          history.violate(`job ${id} ended after ${ended.size} steps, at ${saved}`);
        const steps = await store.getJobSteps(id, clock.now());
        for (const [name, { value }] of ended) {
          const step = steps.find((one) => one.name === name);
          if (step?.value !== JSON.stringify(value))
            history.violate(`${name} of ${id} is ${step?.value}, not ${value}`);
        }
      }
    },
  };
}
