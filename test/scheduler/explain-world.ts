import * as v from "valibot";
import { expect, onTestFinished } from "vitest";
import { answerSchemas } from "../../src/hono/openapi/answer-schemas.ts";
import {
  CronTrigger,
  type Explanation,
  type InstantLike,
  MemoryDataStore,
  Scheduler,
  type SchedulerOptions,
  type Temporal,
  type Trigger,
} from "../../src/mod.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import type { CronOptions } from "../../src/triggers/cron.ts";
import { recordingLogger } from "./support.ts";

/** Schedulers on one store and one virtual clock, whose fire times are explained. */
export interface World {
  readonly clock: VirtualClock;
  readonly store: DataStore;
  /** Runs nothing unless it is started. */
  readonly scheduler: Scheduler;
  /** One more scheduler on the store. */
  readonly another: (options: SchedulerOptions) => Scheduler;
  /** Moves the clock to an instant. */
  readonly to: (instant: string) => Promise<void>;
}

/** An instant in January 2030, which began on a Tuesday. */
const START = "2030-01-01T00:00:00Z";

/** @param options of the scheduler `w-1` */
export function worldAt(
  start: string = START,
  options: SchedulerOptions = {},
  store: DataStore = new MemoryDataStore(),
): World {
  const clock = new VirtualClock(start);
  const another = (more: SchedulerOptions): Scheduler => {
    const { logger } = recordingLogger();
    const scheduler = new Scheduler({
      logger,
      random: () => 0.5,
      clock,
      dataStore: store,
      leaseDuration: "3h",
      maxIdle: "1h",
      ...more,
    });
    onTestFinished(async () => {
      const stopping = scheduler.stop({ drainTimeout: "PT0S" });
      await clock.advance("PT1M");
      await stopping;
    });
    return scheduler;
  };
  const to = async (instant: string): Promise<void> => {
    await clock.advance({ milliseconds: Math.max(0, Date.parse(instant) - clock.now()) });
  };
  return { clock, store, scheduler: another({ identity: "w-1", ...options }), another, to };
}

/** Crontab text in UTC, or in another zone. */
export function cron(text: string, options: CronOptions | string = {}): CronTrigger {
  return CronTrigger.fromCrontab(text, typeof options === "string" ? { timeZone: options } : options);
}

/** Rules and zones of the rows. */
export const NINE = "0 9 * * *";
export const BERLIN = "Europe/Berlin";

/** A started scheduler with the schedule `s` of the task `t`. */
export async function running(world: World, rule: Trigger | string = NINE, options: object = {}): Promise<void> {
  world.scheduler.task("t", () => {});
  await world.scheduler.addSchedule("t", rule, { id: "s", ...options });
  await world.scheduler.start();
}

/** What an explanation must be. */
interface Expected {
  readonly verdict: Explanation["verdict"];
  /** The cause as JSON has it; null for none. */
  readonly cause: Readonly<Record<string, unknown>> | null;
  /** ISO 8601 text of the fire time; null for none; absent where it is what was asked for. */
  readonly fireTime?: string | null;
  /** What the text must say. */
  readonly says: readonly string[];
}

/** One row of the table: what happened, the question, the answer. */
export interface Row extends Expected {
  readonly name: string;
  readonly at: InstantLike | Temporal.PlainDateTime;
  /** Default: `s`. */
  readonly schedule?: string;
  /** When its world begins. */
  readonly start?: string;
  /** Of the scheduler `w-1`. */
  readonly options?: SchedulerOptions;
  /** Of the store. */
  readonly store?: StoreOptions;
  readonly happens: (world: World) => Promise<unknown>;
}

/** What the stores of rows are made with. */
type StoreOptions = Pick<NonNullable<ConstructorParameters<typeof MemoryDataStore>[0]>, "ledger" | "serializer">;

export type StoreMaker = (options: StoreOptions) => DataStore;

/** Makes happen what a row says, asks, and compares. */
export async function checkRow(
  { at, schedule = "s", start, options, store = {}, happens, ...expected }: Row,
  makeStore: StoreMaker,
): Promise<void> {
  const made = worldAt(start, options, makeStore(store));
  await happens(made);
  const explanation = await made.scheduler.explain(schedule, at);
  const json = explanation.toJSON();
  const { verdict, cause, fireTime, text } = json;
  const asked = typeof at === "string" ? new Date(/Z|[+]/.test(at) ? at : `${at}Z`) : null;
  const expectedTime = expected.fireTime === undefined ? (asked?.toISOString() ?? null) : expected.fireTime;
  const seconds = (value: unknown): unknown =>
    typeof value === "string" ? Date.parse(value.replace(/\[.*/, "")) : value;
  expect({ verdict, cause, fireTime: seconds(fireTime) }, String(text)).toEqual({
    ...{ verdict: expected.verdict, cause: expected.cause },
    fireTime: seconds(expectedTime),
  });
  for (const words of expected.says) expect(text).toContain(words);
  expect(v.safeParse(answerSchemas.Explanation, json).issues, "what the document of the router does not say").toBe(
    undefined,
  );
}
