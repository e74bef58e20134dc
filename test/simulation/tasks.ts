import { NonRetryableError } from "../../src/core/errors.ts";
import type { JobRecord } from "../../src/records/job.ts";
import type { TaskRecord } from "../../src/records/task.ts";
import { SHARE_WAIT_MS } from "../../src/scheduler/driving/limits.ts";
import type { TaskSettings } from "../../src/scheduler/options/options.ts";
import type { JobContext } from "../../src/scheduler/scheduler-client.ts";
import type { Attempt, AttemptEnding } from "./attempts.ts";
import { type Flow, type FlowLimits, NO_LIMITS, recordOf, settingsOf } from "./flow.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import { REFUSED_RESULT } from "./refused.ts";
import type { World } from "./world.ts";

/** A task of one run, and how its handlers tend to behave. */
export interface SimulatedTask {
  readonly id: string;
  readonly settings: TaskSettings;
  readonly record: TaskRecord;
  readonly durationMsMax: number;
  readonly failure: number;
  /** Whether handlers heed their signal. */
  readonly heedsSignal: boolean;
  /** How often a handler takes its process with it. */
  readonly poison: number;
}

export function drawTasks(random: Random, isCalm: boolean, flow: Flow | null): SimulatedTask[] {
  return Array.from({ length: random.int(2, 4) }, (_, index) =>
    drawTask(random, `task${index}`, isCalm, flow?.limits[index] ?? NO_LIMITS),
  );
}

function drawTask(random: Random, id: string, isCalm: boolean, limits: FlowLimits): SimulatedTask {
  const maxRunningJobs = random.pick([1, 2, 3, null]);
  const misfireGraceMs = random.pick([null, null, 500, 3000]);
  const maxRecoveries = random.int(0, 3);
  const timeoutMs = random.pick([null, null, 800, 4000]);
  const resultExpirationMs = random.pick([0, 5000, 86_400_000, 86_400_000]);
  const retry = {
    maxAttempts: random.int(1, 3),
    backoff: {
      initialMs: random.int(100, 2000),
      factor: 2,
      maxMs: 3000,
      jitter: random.pick(["full", "none"] as const),
    },
  };
  return {
    id,
    settings: {
      maxRunningJobs,
      misfireGraceTime: misfireGraceMs === null ? null : { milliseconds: misfireGraceMs },
      ...settingsOf(limits),
      maxRecoveries,
      timeout: timeoutMs === null ? null : { milliseconds: timeoutMs },
      resultExpirationTime: { milliseconds: resultExpirationMs },
      retry: {
        maxAttempts: retry.maxAttempts,
        backoff: {
          initial: { milliseconds: retry.backoff.initialMs },
          factor: retry.backoff.factor,
          max: { milliseconds: retry.backoff.maxMs },
          jitter: retry.backoff.jitter,
        },
      },
    },
    record: {
      id,
      executor: "inline",
      maxRunningJobs,
      misfireGraceMs,
      maxRecoveries,
      timeoutMs,
      resultExpirationMs,
      retry,
      overlap: "queue",
      metadata: {},
      ...recordOf(limits),
    },
    durationMsMax: random.pick([0, 50, 2000, 2000, 12_000]),
    failure: random.pick([0, 0.2, 0.6]),
    heedsSignal: random.chance(0.7),
    poison: isCalm ? 0 : random.pick([0, 0, 0, 0.03]),
  };
}

export function inPool(task: SimulatedTask): SimulatedTask {
  const settings = { ...task.settings, executor: "pool" };
  return { ...task, settings, record: { ...task.record, executor: "pool" } };
}

/** Registers the tasks with handlers that keep the ledger. */
export function registerTasks(
  world: World,
  process: SimulatedProcess,
  tasks: readonly SimulatedTask[],
  random: Random,
): void {
  const { isOld, isStub } = process.options;
  for (const task of isOld ? tasks.slice(1) : tasks) {
    const { concurrencyKey, maxRecoveries, ...others } = task.settings;
    const declared = isStub
      ? { maxRecoveries }
      : { ...others, maxRecoveries, ...(isOld ? { maxRunningJobs: null } : {}) };
    const settings = concurrencyKey === undefined ? declared : { ...declared, concurrencyKey };
    process.scheduler.task<unknown>(task.id, settings, (payload, context) =>
      handle(world, process, task, random, payload, context),
    );
  }
}

async function handle(
  world: World,
  process: SimulatedProcess,
  task: SimulatedTask,
  random: Random,
  payload: unknown,
  context: JobContext,
): Promise<unknown> {
  const { fence, signal, job } = context;
  const known = world.jobs.get(job.id);
  if (known === undefined) throw new Error(`a handler got job ${job.id}, which was never added`);
  const { timeoutMs } = task.record;
  const slots = process.options.maxConcurrentJobs;
  const facts = { job: known.record, fence, caller: process, signal, timeoutMs, slots };
  const attempt = world.attempts.start(facts);
  checkContext(world, attempt, payload, context);
  checkEarliness(world, process, known.record);
  checkLateness(world, task, process, job.id);
  world.jobs.checkParents(known.record);
  let ending: AttemptEnding = "threw";
  try {
    if (known.record.after !== undefined) await checkParents(world, known.record, context);
    const value = await behave(world, process, task, random, context);
    ending = value === REFUSED_RESULT ? "returnedTooMuch" : "returned";
    return value;
  } catch (error) {
    if (error instanceof NonRetryableError) ending = "threwForGood";
    throw error;
  } finally {
    // What a dead process would have told nobody hears.
    if (!process.isCrashed) world.attempts.end(attempt, ending);
  }
}

async function behave(
  world: World,
  process: SimulatedProcess,
  task: SimulatedTask,
  random: Random,
  context: JobContext,
): Promise<unknown> {
  const { clock } = process;
  const until = clock.now() + random.int(0, task.durationMsMax);
  const isPoison = world.faults.areOn && random.chance(task.poison);
  const fails = random.chance(task.failure);
  if (random.chance(0.1)) context.progress(0.5);
  if (until > clock.now() || isPoison) await clock.sleep(until, task.heedsSignal ? context.signal : undefined);
  if (isPoison) {
    process.crash();
    await process.whenRunning();
  }
  if (task.heedsSignal) context.signal.throwIfAborted();
  if (fails && random.chance(0.2)) throw new NonRetryableError("for good");
  if (fails) throw new Error("this time");
  if (world.faults.areOn && random.chance(0.02)) return REFUSED_RESULT;
  return { fence: context.fence };
}

function checkContext(world: World, attempt: Attempt, payload: unknown, context: JobContext): void {
  const known = world.jobs.get(attempt.jobId);
  if (known === undefined) return;
  const { record, lease } = known;
  const text = `the handler of job ${record.id} with fence ${attempt.fence}`;
  if (
    lease !== null &&
    record.fence === attempt.fence &&
    context.attempt !== record.failedAttempts + record.recoveries + 1
  ) {
    world.history.violate(`${text} is told that this is attempt ${context.attempt}`);
  }
  if (context.idempotencyKey !== (record.idempotencyKey ?? record.id)) {
    world.history.violate(`${text} got the idempotency key ${context.idempotencyKey}`);
  }
  const stored = record.payload === null ? undefined : (JSON.parse(record.payload) as unknown);
  if (JSON.stringify(stored) !== JSON.stringify(payload)) world.history.violate(`${text} got another payload`);
}

/** A handler reads how the jobs before it ended, as long as that is kept. */
async function checkParents(world: World, { id, after = [] }: JobRecord, context: JobContext): Promise<void> {
  const results = await context.getParentResults();
  const outcomes = results.map((result) => result?.outcome ?? null);
  const expected = after.map((parentId) => world.jobs.get(parentId)?.outcome ?? null);
  const isRight = outcomes.every((outcome, index) => outcome === null || outcome === expected[index]);
  if (results.length === after.length && isRight) return;
  world.history.violate(`the handler of job ${id} is told that its parents ended as [${outcomes}], not [${expected}]`);
}

/** Where all clocks are right, nothing starts before its time. */
function checkEarliness(world: World, process: SimulatedProcess, { id, runAt, fireTime }: JobRecord): void {
  const { faults, hasWrongClocks, hasFarClock } = world;
  if (faults.jump + faults.skew > 0 || hasWrongClocks || hasFarClock) return;
  if (process.clock.now() >= Math.max(runAt, fireTime ?? runAt)) return;
  world.history.violate(`the handler of job ${id} was started before its time`);
}

/** Without faults a job that nothing holds back starts at its time. */
function checkLateness(world: World, task: SimulatedTask, process: SimulatedProcess, jobId: string): void {
  const job = world.jobs.get(jobId);
  if (job === undefined || !world.isCalm || task.record.maxRunningJobs !== null || world.jobs.mayBeBlocked(job)) return;
  const dueMs = Math.max(job.record.runAt, job.addedAtMs);
  if (task.record.executor === "pool") {
    checkPools(world, job.lease?.takenAtMs ?? dueMs, dueMs, jobId);
    return;
  }
  const { maxConcurrentJobs } = process.options;
  if (maxConcurrentJobs < 100 || process.options.isTicker) return;
  const lateMs = world.clock.now() - dueMs;
  if (lateMs > (world.processes.length > 1 ? SHARED_MS_MAX : 0))
    world.history.violate(`job ${jobId} started ${lateMs} ms late in a run without faults`);
}

/** While a job was due, no pool had a free slot for it. */
function checkPools(world: World, takenAtMs: number, dueMs: number, jobId: string): void {
  for (const { name, isWorking, options, pool } of world.processes) {
    if (!isWorking || pool === null || options.isTicker || options.role === "scheduler") continue;
    if (options.maxConcurrentJobs < 100 || options.isOld) continue;
    if (Math.max(pool.freeSinceMs, dueMs) < takenAtMs) {
      world.history.violate(`the pool of ${name} was idle while job ${jobId} was due, from ${dueMs} to ${takenAtMs}`);
    }
  }
}

/** Events are never lost in such a run. Of a burst, a scheduler leaves a share to others where there are any, and waits
 *  before each next commit. */
const SHARED_MS_MAX = 4 * SHARE_WAIT_MS;
