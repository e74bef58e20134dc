import type { ScheduleRecord } from "../../src/records/schedule.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { median } from "./median.ts";

/** Milliseconds. */
export interface TickCost {
  readonly count: number;
  readonly idleMs: number;
  readonly acquireMs: number;
  readonly commitMs: number;
  readonly idleTurnMs: number;
}

const NOW = Date.UTC(2030, 0, 1);
const ROUNDS = 41;
const DUE = 100;
const INSERT_BATCH = 10_000;

/**
 * What one step over schedules costs with `count` of them in the store: none due; leasing 100 that are due; and committing
 * their jobs and next fire times. And a worker's turn that finds nothing.
 */
export async function measureTick(count: number, folder: string): Promise<TickCost> {
  const store = new LibsqlDataStore({ url: `file:${folder}/tick${count}.db` }, { durability: "normal" });
  await store.open(NOW);
  for (let start = 0; start < count; start += INSERT_BATCH) {
    const size = Math.min(INSERT_BATCH, count - start);
    const schedules = Array.from({ length: size }, (_, index) => schedule(start + index));
    await store.addSchedules(schedules.map((one) => ({ schedule: one, conflictPolicy: "error" as const })));
  }
  const idle: number[] = [];
  const acquire: number[] = [];
  const commit: number[] = [];
  const turn: number[] = [];
  let now = NOW;
  for (let round = 0; round < ROUNDS; round++) {
    idle.push(await timed(() => acquireDue(store, now, `idle${round}`)));
    turn.push(await timed(() => emptyTurn(store, now, round)));
    now = NOW + (round + 1) * DUE;
    const start = performance.now();
    const { schedules } = await acquireDue(store, now, `due${round}`);
    acquire.push(performance.now() - start);
    if (schedules.length !== DUE) throw new Error(`${schedules.length} of ${count} schedules were due, not ${DUE}`);
    const plans = schedules.map(({ id, fence, nextFireTime }) => ({
      scheduleId: id,
      fence,
      jobs: [],
      // So that one comes due in every millisecond, however many there are.
      nextFireTime: (nextFireTime ?? now) + count,
      lastFireTime: nextFireTime,
      paused: false,
    }));
    commit.push(await timed(() => store.commitPlans({ schedulerId: "bench", plans })));
  }
  await store.close();
  return {
    count,
    idleMs: median(idle),
    acquireMs: median(acquire),
    commitMs: median(commit),
    idleTurnMs: median(turn),
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function acquireDue(store: DataStore, now: number, acquisitionId: string): ReturnType<DataStore["acquireSchedules"]> {
  return store.acquireSchedules({ now, schedulerId: "bench", acquisitionId, until: now + 60_000, limit: DUE });
}

function emptyTurn(store: DataStore, now: number, round: number): Promise<unknown> {
  const queues = [{ executor: "inline", taskId: "noop" }];
  const acquisition = { acquisitionId: `turn${round}`, until: now + 60_000, limit: 100, queues };
  return store.turn({ now, schedulerId: "bench", releases: [], acquisition });
}

/** They come due one a millisecond. */
function schedule(index: number): ScheduleRecord {
  return {
    id: `schedule-${index}`,
    taskId: "noop",
    trigger: '{"type":"interval","hours":1}',
    triggerRule: '{"type":"interval","hours":1}',
    payload: null,
    executor: "inline",
    priority: 0,
    coalesce: "latest",
    misfireGraceMs: null,
    maxJitterMs: 0,
    maxCatchUp: null,
    resultExpirationMs: 0,
    maxRecoveries: 3,
    metadata: {},
    paused: false,
    createdAt: NOW,
    nextFireTime: NOW + 1 + index,
    lastFireTime: null,
    acquiredBy: null,
    acquiredUntil: null,
    fence: 0,
  };
}
