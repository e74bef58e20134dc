import type { Contestant } from "../store/contestant.ts";
import { median } from "../store/median.ts";
import { connectSql } from "./contestants.ts";

export interface SoakSettings {
  readonly address: string;
  readonly schema: string;
  readonly minutes: number;
  readonly perSecond: number;
  /** Whose clock all processes of the run count from, in epoch milliseconds. */
  readonly startsAt: number;
}

/** Of one period of the run. */
export interface SoakSample {
  readonly ran: number;
  /** From the addition to the handler's start, milliseconds. */
  readonly delayP50: number;
  readonly delayP99: number;
}

export interface SizeSample {
  /** Of all tables and their indexes. */
  readonly megabytes: number;
  readonly deadRows: number;
  readonly isHeld: boolean;
}

const SAMPLES = 12;
const ADDING_PERIOD_MS = 100;

/** The worker's process: what each of the periods of the run had. */
export async function soakWorker(contestant: Contestant, settings: SoakSettings): Promise<SoakSample[]> {
  const queue = await openQueue(contestant, settings);
  const delays: number[][] = Array.from({ length: SAMPLES }, () => []);
  void queue.process(Number.POSITIVE_INFINITY, (addedAt) => {
    const now = Date.now() - settings.startsAt;
    delays[Math.min(SAMPLES - 1, Math.floor(now / periodMs(settings)))]?.push(now - addedAt);
  });
  await until(settings.startsAt + settings.minutes * 60_000);
  return delays.map((all) => {
    const sorted = all.toSorted((a, b) => a - b);
    return {
      ran: sorted.length,
      delayP50: median(sorted),
      delayP99: sorted[Math.floor((sorted.length - 1) * 0.99)] ?? Number.NaN,
    };
  });
}

/** The process that adds. Returns how many jobs it added. */
export async function soakAdder(contestant: Contestant, settings: SoakSettings): Promise<number> {
  const queue = await openQueue(contestant, settings);
  let added = 0;
  await until(settings.startsAt);
  for (let elapsed = 0; elapsed < settings.minutes * 60_000; elapsed = Date.now() - settings.startsAt) {
    const due = Math.floor((elapsed * settings.perSecond) / 1000) - added;
    for (let left = due; left > 0; left -= 1000) {
      await queue.addMany(Array.from({ length: Math.min(left, 1000) }, () => Date.now() - settings.startsAt));
    }
    added += due;
    await until(settings.startsAt + elapsed + ADDING_PERIOD_MS);
  }
  return added;
}

/** Beside both: the sizes at the end of each period, and a transaction that stays open for a third of the run, as the
 *  dump of a database does. */
export async function watchSoak(settings: SoakSettings): Promise<SizeSample[]> {
  const sql = await connectSql(settings.address);
  const holder = await sql.reserve();
  const sizes: SizeSample[] = [];
  let isHeld = false;
  for (let index = 0; index < SAMPLES; index++) {
    if (index === SAMPLES / 4) {
      await holder.unsafe("BEGIN ISOLATION LEVEL REPEATABLE READ");
      await holder.unsafe("SELECT count(*) FROM pg_class");
      isHeld = true;
    }
    if (index === SAMPLES / 4 + SAMPLES / 3) {
      await holder.unsafe("COMMIT");
      isHeld = false;
    }
    await until(settings.startsAt + (index + 1) * periodMs(settings));
    const [row] = await sql.unsafe<{ bytes: string; dead: string }>(
      "SELECT sum(pg_total_relation_size(relid)) AS bytes, sum(n_dead_tup) AS dead FROM pg_stat_user_tables " +
        `WHERE schemaname = '${settings.schema}'`,
    );
    sizes.push({ megabytes: Number(row?.bytes) / 1e6, deadRows: Number(row?.dead), isHeld });
  }
  holder.release();
  // A connection that the client has replaced within the hour would be waited for without an end.
  await sql.end({ timeout: 5 });
  return sizes;
}

export function periodMs({ minutes }: Pick<SoakSettings, "minutes">): number {
  return (minutes * 60_000) / SAMPLES;
}

function openQueue(contestant: Contestant, { address, schema }: SoakSettings): ReturnType<Contestant["open"]> {
  return contestant.open({ address, name: schema, isKept: false });
}

async function until(at: number): Promise<void> {
  const ms = at - Date.now();
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
