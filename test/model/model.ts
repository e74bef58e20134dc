import { EnvironmentMoves } from "./environment-moves.ts";
import type { Emit, Kind, Model } from "./explore.ts";
import { pack, unpack, widthOf } from "./packing.ts";
import { SchedulerMoves } from "./scheduler-moves.ts";
import type { Settings } from "./settings.ts";
import { Stage } from "./stage.ts";
import { JOBS, JobState, MessageKind, NO_PLAN, noMessage, Phase, Truth, type World } from "./world.ts";

/** The schedulers, the store and what goes wrong between them, as states to explore. */
export function makeModel(settings: Settings): Model {
  const schedulers = settings.skews[0]?.length ?? 0;
  const width = widthOf(schedulers, settings.faults);
  const keepsFences = !settings.rules.beginsAtFreshFence;
  const out = new Uint8Array(width);
  let source: Uint8Array = out;
  let sourceOffset = 0;
  let take: Emit = () => {};
  const fresh = (): World => unpack(source, sourceOffset, width, schedulers);
  const stage = new Stage(settings, {
    fresh,
    emit: (kind: Kind, name, by, flaw, world) => {
      pack(world, out, keepsFences);
      take(kind, name, by, flaw);
    },
  });
  const ofSchedulers = new SchedulerMoves(stage);
  const ofEnvironment = new EnvironmentMoves(stage);
  return {
    width,
    out,
    start: (emit) => {
      for (const skews of settings.skews) {
        pack(firstWorld(settings, skews), out, keepsFences);
        emit();
      }
    },
    expand: (bytes, offset, emit) => {
      source = bytes;
      sourceOffset = offset;
      take = emit;
      const world = fresh();
      for (let by = 0; by < schedulers; by++) ofSchedulers.from(world, by);
      ofEnvironment.from(world);
    },
    checkRest: (bytes, offset) => checkRest(unpack(bytes, offset, width, schedulers)),
    show: (bytes, offset) => show(unpack(bytes, offset, width, schedulers)),
  };
}

function firstWorld(settings: Settings, skews: readonly number[]): World {
  return {
    time: 0,
    faults: settings.faults,
    crashes: settings.crashes,
    changes: settings.changes,
    jumps: settings.jumps,
    hasOlder: settings.hasOlder,
    schedule: {
      exists: settings.fires > 0,
      fence: 0,
      nextFireTime: settings.fires > 0 ? 1 : 0,
      lastFireTime: 0,
      isPaused: false,
      stampBy: -1,
      stampCommit: 0,
      preferredScheduler: -1,
      leasedUntil: 0,
      fates: [0, 0, 0],
    },
    jobs: Array.from({ length: JOBS }, (_, index) => {
      const state = index < settings.jobs ? JobState.ready : JobState.absent;
      return { state, fence: 0, by: 0, commit: 0, until: 0 };
    }),
    schedulers: skews.map((skew) => ({
      phase: Phase.idle,
      skew,
      firstCommit: 1,
      commit: 0,
      truth: Truth.notCommitted,
      plan: NO_PLAN,
      releases: [0, 0, 0],
      holds: [0, 0, 0],
      fences: [0, 0, 0],
    })),
    messages: Array.from({ length: settings.faults }, noMessage),
    pause: { isUnknown: false, fence: 0, wasCommitted: false },
    older: { isAtWork: false, fence: 0, fireTime: 0 },
  };
}

/** Nothing is left to do: everything that was due is enqueued, and every job has run. */
function checkRest({ schedule, jobs, schedulers }: World): string | null {
  if (schedulers.some(({ phase }) => phase !== Phase.idle && phase !== Phase.down))
    return "a scheduler does not come to its end";
  if (schedule.exists && !schedule.isPaused && schedule.nextFireTime !== 0) return "the schedule stays due";
  if (jobs.some(({ state }) => state === JobState.leased)) return "a lease stays";
  if (jobs.some(({ state }) => state === JobState.ready)) return "a job is never run";
  return null;
}

const PHASES = ["down", "starting", "idle", "planned", "unknown", "answered"];
const JOB_TEXTS = ["-", "ready", "leased", "done"];
const FATES = ["-", "skipped", "added"];
const HOLDS = ["-", "held", "lost", "granted", "granted+lost"];

function show({ time, schedule, jobs, schedulers, messages }: World): string {
  const { exists, isPaused, fence, nextFireTime, lastFireTime, fates } = schedule;
  const row = exists
    ? `next ${nextFireTime} last ${lastFireTime} fence ${fence}${isPaused ? " paused" : ""}`
    : `removed at fence ${fence}`;
  const jobTexts = jobs.map(({ state, by, commit, until }) =>
    state === JobState.leased ? `${"ABC"[by]}#${commit}<${until}` : JOB_TEXTS[state],
  );
  const schedulerTexts = schedulers.map(({ phase, skew, commit, firstCommit, plan, holds }, by) => {
    const planText = plan.expected > 0 ? ` of ${plan.expected} at fence ${plan.fence} as of ${plan.asOf}` : "";
    const id = `#${phase === Phase.unknown || phase === Phase.answered ? commit : firstCommit}`;
    const holdsText = holds.map((hold) => HOLDS[hold]).join(" ");
    return `${"ABC"[by]}@${time + skew}${id} ${PHASES[phase]}${planText} [${holdsText}]`;
  });
  const strays = messages
    .filter(({ kind }) => kind !== MessageKind.none)
    .map(({ kind, by, commit }) => `${["", "commit", "extension", "surrender"][kind]} ${"ABC"[by]}#${commit}`);
  return [
    `t${time}`,
    `${row} (${fates.map((fate) => FATES[fate]).join(" ")})`,
    `jobs ${jobTexts.join(" ")}`,
    ...schedulerTexts,
    ...(strays.length > 0 ? [`astray: ${strays.join(", ")}`] : []),
  ].join(" | ");
}
