import type { Fate, Schedule, Scheduler, Truth, World } from "./world.ts";
import {
  at,
  type Hold,
  JOBS,
  type Job,
  type JobState,
  type Message,
  MessageKind,
  type Phase,
  type Plan,
} from "./world.ts";

const PLAN_BYTES = 5;
const SCHEDULER_BYTES = 5 + PLAN_BYTES + 3 * JOBS;
const MESSAGE_BYTES = 7 + PLAN_BYTES + JOBS;
const HEAD_BYTES = 6 + 9 + JOBS + 5 * JOBS + 6;

/** Bytes of a packed world. */
export function widthOf(schedulers: number, messages: number): number {
  return HEAD_BYTES + schedulers * SCHEDULER_BYTES + messages * MESSAGE_BYTES;
}

/** Writes a world in canonical form: numbers that nothing can tell apart become the same.
 *  @param keepsFences whether a schedule may come back to a fence that it had, so that they stay as they are */
export function pack(world: World, out: Uint8Array, keepsFences: boolean): void {
  renumberSteps(world);
  renumberJobFences(world);
  renumberFences(world, keepsFences);
  const { schedule, older, pause } = world;
  bytes = out;
  cursor = 0;
  put(world.time);
  put(world.faults);
  put(world.crashes);
  put(world.changes);
  put(world.jumps);
  put(Number(world.hasOlder));
  put(Number(schedule.exists));
  put(schedule.fence);
  put(schedule.nextFireTime);
  put(schedule.lastFireTime);
  put(Number(schedule.isPaused));
  put(schedule.stampBy + 1);
  put(schedule.stampCommit);
  put(schedule.preferredScheduler + 1);
  put(schedule.leasedUntil);
  putAll(schedule.fates);
  for (const { state, fence, by, commit, until } of world.jobs) {
    put(state);
    put(fence);
    put(by);
    put(commit);
    put(until);
  }
  put(Number(pause.isUnknown));
  put(pause.fence);
  put(Number(pause.wasCommitted));
  put(Number(older.isAtWork));
  put(older.fence);
  put(older.fireTime);
  for (const scheduler of world.schedulers) {
    put(scheduler.phase);
    put(scheduler.skew + 1);
    put(scheduler.firstCommit);
    put(scheduler.commit);
    put(scheduler.truth);
    putPlan(scheduler.plan);
    putAll(scheduler.releases);
    putAll(scheduler.holds);
    putAll(scheduler.fences);
  }
  for (const message of world.messages) {
    put(message.kind);
    put(message.by);
    put(message.commit);
    put(message.firstCommit);
    put(Number(message.recovers));
    put(message.limit);
    put(message.now + 1);
    putPlan(message.plan);
    putAll(message.fences);
  }
  if (cursor !== out.length) throw new RangeError(`${cursor} bytes instead of ${out.length}`);
}

export function unpack(source: Uint8Array, offset: number, width: number, schedulersCount: number): World {
  bytes = source;
  cursor = offset;
  const world: World = {
    time: take(),
    faults: take(),
    crashes: take(),
    changes: take(),
    jumps: take(),
    hasOlder: take() === 1,
    schedule: takeSchedule(),
    jobs: [takeJob(), takeJob(), takeJob()],
    pause: { isUnknown: take() === 1, fence: take(), wasCommitted: take() === 1 },
    older: { isAtWork: take() === 1, fence: take(), fireTime: take() },
    schedulers: [],
    messages: [],
  };
  for (let left = schedulersCount; left > 0; left--) world.schedulers.push(takeScheduler());
  while (cursor < offset + width) world.messages.push(takeMessage());
  return world;
}

// Where the next byte is put or taken. Closures instead took a third of the time.
let bytes: Uint8Array = new Uint8Array();
let cursor = 0;

function put(value: number): void {
  bytes[cursor++] = value;
}

function putAll(values: readonly number[]): void {
  for (let index = 0; index < values.length; index++) put(values[index] ?? 0);
}

function putPlan({ fence, expected, last, asOf, version }: Plan): void {
  put(fence);
  put(expected);
  put(last);
  put(asOf + 1);
  put(version);
}

function take(): number {
  return bytes[cursor++] ?? 0;
}

function takeThree(): number[] {
  return [take(), take(), take()];
}

function takePlan(): Plan {
  return { fence: take(), expected: take(), last: take(), asOf: take() - 1, version: take() };
}

function takeSchedule(): Schedule {
  return {
    exists: take() === 1,
    fence: take(),
    nextFireTime: take(),
    lastFireTime: take(),
    isPaused: take() === 1,
    stampBy: take() - 1,
    stampCommit: take(),
    preferredScheduler: take() - 1,
    leasedUntil: take(),
    fates: takeThree() as Fate[],
  };
}

function takeJob(): Job {
  return { state: take() as JobState, fence: take(), by: take(), commit: take(), until: take() };
}

function takeScheduler(): Scheduler {
  return {
    phase: take() as Phase,
    skew: take() - 1,
    firstCommit: take(),
    commit: take(),
    truth: take() as Truth,
    plan: takePlan(),
    releases: takeThree(),
    holds: takeThree() as Hold[],
    fences: takeThree(),
  };
}

function takeMessage(): Message {
  return {
    kind: take() as MessageKind,
    by: take(),
    commit: take(),
    firstCommit: take(),
    recovers: take() === 1,
    limit: take(),
    now: take() - 1,
    plan: takePlan(),
    fences: takeThree(),
  };
}

/**
 * Of a scheduler's commits only their order counts, and whether they are the one under way, one that may still arrive,
 * or the first of an instance. All commits between two of these become one.
 */
function renumberSteps(world: World): void {
  const { schedule, schedulers, jobs, messages } = world;
  for (let by = 0; by < schedulers.length; by++) {
    const scheduler = at(schedulers, by);
    const marks = [scheduler.firstCommit];
    if (scheduler.commit > 0) marks.push(scheduler.commit);
    for (const message of messages) {
      if (message.kind === MessageKind.none || message.by !== by) continue;
      if (message.commit > 0) marks.push(message.commit);
      marks.push(message.firstCommit);
    }
    if (marks.length > 1) marks.sort((a, b) => a - b);
    const renumber = (commit: number): number => {
      if (commit === 0) return 0;
      let number = 1;
      let previous = 0;
      for (const mark of marks) {
        if (mark === previous) continue;
        if (commit < mark) return number;
        if (commit === mark) return number + 1;
        number += 2;
        previous = mark;
      }
      return number;
    };
    for (const job of jobs) if (job.by === by) job.commit = renumber(job.commit);
    if (schedule.stampBy === by) {
      // Nobody asks for another stamp.
      if (schedule.stampCommit !== scheduler.commit) schedule.stampBy = -1;
      schedule.stampCommit = schedule.stampBy < 0 ? 0 : renumber(schedule.stampCommit);
    }
    for (const message of messages) {
      if (message.kind === MessageKind.none || message.by !== by) continue;
      message.commit = renumber(message.commit);
      message.firstCommit = renumber(message.firstCommit);
    }
    scheduler.commit = renumber(scheduler.commit);
    scheduler.firstCommit = renumber(scheduler.firstCommit);
  }
}

/** A version that is not any number of changes left. */
const UNCHANGED_NO_MORE = 255;
const STALE = 1;
const CURRENT = 2;

/** Fences of jobs are only compared with the row's: they become the present one, or a stale one. */
function renumberJobFences({ jobs, schedulers, messages }: World): void {
  for (let index = 0; index < JOBS; index++) {
    const job = at(jobs, index);
    const renumber = (fences: number[]): void => {
      const fence = at(fences, index);
      if (fence !== 0) fences[index] = fence === job.fence ? CURRENT : STALE;
    };
    for (const scheduler of schedulers) {
      renumber(scheduler.releases);
      renumber(scheduler.fences);
    }
    for (const message of messages) renumber(message.fences);
    job.fence = CURRENT;
  }
}

/** Fences of the schedule are compared with the row's, and with the one before it. */
function renumberFences({ schedule, schedulers, messages, older, pause, changes }: World, keepsFences: boolean): void {
  const renumber = (fence: number): number => (keepsFences ? fence : Math.max(0, fence - schedule.fence + 2));
  const renumberPlan = (plan: Plan): Plan =>
    plan.expected === 0
      ? plan
      : { ...plan, fence: renumber(plan.fence), version: plan.version === changes ? changes : UNCHANGED_NO_MORE };
  for (const scheduler of schedulers) scheduler.plan = renumberPlan(scheduler.plan);
  for (const message of messages) message.plan = renumberPlan(message.plan);
  if (older.isAtWork) older.fence = renumber(older.fence);
  if (pause.isUnknown) pause.fence = renumber(pause.fence);
  schedule.fence = renumber(schedule.fence);
}
