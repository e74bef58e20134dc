// What a small shop does by the clock: tasks and schedules that a page is worth looking at for. One fails now and then,
// one is slow and tells its progress, one is paused, and one falls into the hour that clocks leave out in spring.
import { CronTrigger, IntervalTrigger, type Scheduler } from "escapement";

type Handler = (payload: unknown, context: { signal: AbortSignal }) => Promise<void>;

/** How handlers spend time: on the host's clock, or on one that jumps. */
export type Wait = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Registers the tasks. @param random numbers in [0, 1): run times and failures follow from them */
export function registerShop(scheduler: Scheduler, wait: Wait, random: () => number): void {
  const taking = (usualMs: number): number => Math.round(usualMs * (0.7 + random() * 0.7));
  const kept = { resultExpirationTime: "14d" } as const;
  const simply =
    (usualMs: number): Handler =>
    async (_payload, { signal }) => {
      await wait(taking(usualMs), signal);
      signal.throwIfAborted();
    };
  scheduler.task("shop.backup", kept, simply(12_000));
  scheduler.task("shop.report", kept, simply(45_000));
  scheduler.task("shop.cache", kept, simply(900));
  scheduler.task("shop.mail", kept, simply(200));
  scheduler.task("shop.invoices", kept, simply(60_000));
  scheduler.task("shop.rollup", kept, simply(2000));
  scheduler.task("shop.stripe", kept, async () => {
    await wait(taking(400));
    if (random() < 0.25) throw new StripeConnectionError(`upstream answered 503 after ${taking(900)} ms`);
    return { charges: Math.floor(random() * 40) };
  });
  scheduler.task("shop.orders", { ...kept, retry: { maxAttempts: 2 } }, async (_payload, { signal, progress }) => {
    for (let page = 1; page <= 50; page++) {
      await wait(taking(1600), signal);
      signal.throwIfAborted();
      progress(page / 50, `page ${page} of 50`);
    }
  });
}

class StripeConnectionError extends Error {
  override readonly name = "StripeConnectionError";
}

type Plan = readonly [id: string, task: string, cron: string, timeZone: string];

const DAILY: readonly Plan[] = [
  ["backup/nightly", "shop.backup", "30 2 * * *", "Europe/Berlin"],
  ["report/weekdays", "shop.report", "0 9 * * mon-fri", "Europe/London"],
  ["invoice/close", "shop.invoices", "0 18 LW * *", "Europe/London"],
  ["payday", "shop.invoices", "0 8 15W * *", "Asia/Tokyo"],
  ["legacy/import", "shop.backup", "0 4 * * mon-fri", "Europe/Berlin"],
  ["tenant/acme/rollup", "shop.rollup", "0 0 * * *", "Europe/Paris"],
  ["tenant/globex/rollup", "shop.rollup", "0 0 * * *", "America/Chicago"],
  ["tenant/initech/rollup", "shop.rollup", "0 0 * * *", "Asia/Kolkata"],
  ["audit/spring-forward", "shop.report", "30 2 * 3 sunL", "Europe/Berlin"],
];
const FREQUENT: readonly Plan[] = [
  ["cache/warm", "shop.cache", "*/15 * * * *", "America/New_York"],
  ["sync/stripe", "shop.stripe", "*/10 * * * *", "UTC"],
  ["etl/orders", "shop.orders", "*/6 * * * *", "Asia/Kolkata"],
];

/** Adds what runs once a day or less. */
export async function addDaily(scheduler: Scheduler): Promise<void> {
  for (const plan of DAILY) await add(scheduler, plan);
  await scheduler.pauseSchedule("legacy/import", { by: "ada", reason: "the old warehouse is being moved" });
}

/** Adds what runs all the time. */
export async function addFrequent(scheduler: Scheduler): Promise<void> {
  for (const plan of FREQUENT) await add(scheduler, plan);
  await scheduler.addSchedule("shop.mail", new IntervalTrigger({ minutes: 3 }), { id: "mail/digest" });
}

async function add(scheduler: Scheduler, [id, task, cron, timeZone]: Plan): Promise<void> {
  const payload = { shop: "Zürich", id };
  await scheduler.addSchedule(task, CronTrigger.fromCrontab(cron, { timeZone }), { id, payload, overlap: "skip" });
}
