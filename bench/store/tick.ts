import type { ScheduleRecord } from "../../src/records/schedule.ts";
import type { CommitReport, DataStore, LookReport, View } from "../../src/stores/data-store.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { median } from "./median.ts";

/** Milliseconds. */
export interface TickCost {
  readonly count: number;
  readonly idleLookMs: number;
  readonly dueLookMs: number;
  readonly planCommitMs: number;
  readonly emptyCommitMs: number;
}

const NOW = Date.UTC(2030, 0, 1);
const ROUNDS = 41;
const DUE = 100;
const INSERT_BATCH = 10_000;
const LEASE_MS = 60_000;

/**
 * What a scheduler's looks and commits cost with `count` schedules in the store: a look that finds nothing, one that
 * finds 100 due schedules, the commit that commits their jobs and next fire times, and a commit that has nothing to do.
 */
export async function measureTick(count: number, folder: string): Promise<TickCost> {
  const store = new LibsqlDataStore({ url: `file:${folder}/tick${count}.db` }, { durability: "normal" });
  await store.open(NOW);
  for (let start = 0; start < count; start += INSERT_BATCH) {
    const size = Math.min(INSERT_BATCH, count - start);
    const schedules = Array.from({ length: size }, (_, index) => schedule(start + index));
    await store.addSchedules(schedules.map((one) => ({ schedule: one, conflictPolicy: "error" as const })));
  }
  const idleLook: number[] = [];
  const dueLook: number[] = [];
  const planCommit: number[] = [];
  const emptyCommit: number[] = [];
  let now = NOW;
  for (let round = 0; round < ROUNDS; round++) {
    idleLook.push(await timed(() => look(store, now)));
    emptyCommit.push(await timed(() => commit(store, now, `${round}/1`, [])));
    now = NOW + (round + 1) * DUE;
    const startedAt = performance.now();
    const { due } = await look(store, now);
    dueLook.push(performance.now() - startedAt);
    if (due.length !== DUE) throw new Error(`${due.length} of ${count} schedules were due, not ${DUE}`);
    const plannedAt = performance.now();
    const { plans } = await commit(store, now, `${round}/2`, due, count);
    planCommit.push(performance.now() - plannedAt);
    const committed = plans.filter((plan) => plan.committed && plan.addedJobIds.length === 1).length;
    if (committed !== DUE) throw new Error(`${committed} of ${DUE} plans were committed with a job`);
  }
  await store.close();
  return {
    count,
    idleLookMs: median(idleLook),
    dueLookMs: median(dueLook),
    planCommitMs: median(planCommit),
    emptyCommitMs: median(emptyCommit),
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function view(now: number): View {
  return {
    now,
    schedulerId: "bench",
    jobs: { queues: [{ executor: "inline", taskId: "another" }], limit: 100 },
    schedules: { dueBy: now, limit: DUE, bytesMax: 1_000_000, after: null },
  };
}

function look(store: DataStore, now: number): Promise<LookReport> {
  return store.look({ ...view(now), tasks: null });
}

/** @param periodMs after which a planned schedule comes due again: so that one does in every millisecond, however many
 *  there are */
function commit(
  store: DataStore,
  now: number,
  commitId: string,
  due: LookReport["due"],
  periodMs = 0,
): Promise<CommitReport> {
  return store.commit({
    ...view(now),
    commitId,
    isRepetition: false,
    until: now + LEASE_MS,
    releases: [],
    additions: [],
    recover: false,
    plans: due.map(({ id, fence, nextFireTime }) => ({
      scheduleId: id,
      fence,
      expected: nextFireTime,
      fires: [
        {
          jobId: `${id}-${nextFireTime}`,
          createdAt: now,
          fireTime: nextFireTime,
          scheduledFireTime: nextFireTime,
          runAt: nextFireTime,
          startDeadline: null,
          missedCount: null,
          firstMissedTime: null,
          lastMissedTime: null,
        },
      ],
      nextFireTime: nextFireTime + periodMs,
      lastFireTime: nextFireTime,
      paused: false,
      isPreferred: true,
    })),
  });
}

/** They come due one a millisecond. */
function schedule(index: number): ScheduleRecord {
  return {
    id: `schedule-${index}`,
    name: null,
    taskId: "noop",
    trigger: '{"type":"interval","hours":1}',
    triggerRule: '{"type":"interval","hours":1}',
    payload: null,
    executor: "inline",
    priority: 0,
    coalesce: "latest",
    overlap: "queue",
    misfireGraceMs: null,
    maxJitterMs: 0,
    catchUp: null,
    resultExpirationMs: 0,
    maxRecoveries: 3,
    metadata: {},
    paused: false,
    createdAt: NOW,
    nextFireTime: NOW + 1 + index,
    lastFireTime: null,
    paceUntil: null,
    revision: 0,
    skippedCount: 0,
    fence: 0,
  };
}
